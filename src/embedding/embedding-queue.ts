import type { Passage } from "./passages.ts";
import type { TextKind } from "./worker-connection.ts";

/** A text that waits for its embedding. */
export interface Job {
  readonly id: number;
  readonly type: TextKind;
  readonly text: string;
  /** Whose text it is. */
  readonly accountId: string;
  /** The passages of a content; null before it is split. */
  passages: Passage[] | null;
  /** Vectors and states of the passages that are embedded. */
  readonly vectors: Float32Array[];
  readonly states: Int8Array[];
}

/** The share of the engine that an account's queries get, and its contents: a person waits for a query. */
const WEIGHTS: Record<TextKind, number> = { query: 4, content: 1 };
/** Characters of the longest run, and what a run costs besides its characters. */
const LONGEST = 2_000;
const RUN = 100;

/** The share of the oldest text's cost up to which a shorter one may go before it. */
const SHORTER = 1 / 2;

/** An account's texts of one kind. */
interface Flow {
  readonly kind: TextKind;
  readonly jobs: Map<number, Job>;
  /** The work that it got, by its weight. */
  work: number;
  /** The work that its shortest texts get before its oldest one is next again. */
  owed: number;
}

/**
 * Waiting texts, in the order of their next runs of the model. Start-time fair queueing: the next run belongs to the flow
 * that got the least work. A flow that begins to wait starts level with the others, so that nobody saves up a share. Within
 * a flow the oldest text is next, but much shorter ones get the same work, so that sentences do not wait for a book, and a
 * book does not wait forever for sentences.
 */
export function createEmbeddingQueue() {
  const flows = new Map<string, Flow>();
  /** The work of the flow that was served last. */
  let level = 0;

  const forgetIdle = () => {
    for (const [name, { jobs, work }] of flows) {
      if (jobs.size === 0 && work <= level) flows.delete(name);
    }
  };

  return {
    add(job: Job): void {
      forgetIdle();
      const name = `${job.type} ${job.accountId}`;
      const flow = flows.get(name) ?? {
        kind: job.type,
        jobs: new Map(),
        work: level,
        owed: 0,
      };
      flows.set(name, flow);
      flow.jobs.set(job.id, job);
    },
    /** The job of the next run, which stays in the queue until it is removed; null without jobs. */
    next(): Job | null {
      let flow: Flow | undefined;
      for (const each of flows.values()) {
        if (each.jobs.size > 0 && each.work < (flow?.work ?? Number.POSITIVE_INFINITY)) flow = each;
      }
      const job = flow ? nextOf(flow) : null;
      if (!flow || !job) return null;
      level = flow.work;
      flow.work += costOf(job.text) / WEIGHTS[flow.kind];
      return job;
    },
    remove(id: number): void {
      for (const { jobs } of flows.values()) jobs.delete(id);
    },
  };
}

function nextOf(flow: Flow): Job | null {
  let oldest: Job | null = null;
  let shortest: Job | null = null;
  for (const job of flow.jobs.values()) {
    oldest ??= job;
    if (!shortest || job.text.length < shortest.text.length) shortest = job;
  }
  if (!oldest || !shortest) return null;
  if (costOf(shortest.text) > SHORTER * costOf(oldest.text)) return oldest;
  const job = flow.owed > 0 ? shortest : oldest;
  flow.owed += job === oldest ? costOf(job.text) : -costOf(job.text);
  return job;
}

/** What the next run of a text costs, in characters. */
function costOf(text: string): number {
  return Math.min(text.length, LONGEST) + RUN;
}

/** Characters of a text that one run of some 20 ms embeds. */
const MAX_SHORT = 500;
/** What the light texts of a kind that an account has waiting may cost; a text beside them counts as one of many. */
const MAX_LIGHT = 2_500;
/** Milliseconds for which several accounts count as embedding texts after they did. */
const SHARED_MS = 5_000;

/** The accounts whose texts wait for an engine. */
export function createWaitingAccounts() {
  /** What the light texts of each kind cost that an account has waiting. */
  const waiting = new Map<string, number>();
  let last = "";
  let sharedUntil = Number.NEGATIVE_INFINITY;

  return {
    /**
     * Notes a text that begins to wait.
     * @returns whether it is light, and a function to call when it no longer waits
     */
    enter(type: TextKind, text: string, accountId: string) {
      if (last !== "" && accountId !== last) sharedUntil = performance.now() + SHARED_MS;
      last = accountId;
      const flow = `${type} ${accountId}`;
      const after = (waiting.get(flow) ?? 0) + costOf(text);
      const isLight = text.length <= MAX_SHORT && after <= MAX_LIGHT;
      if (!isLight) return { isLight, leave: () => {} };
      waiting.set(flow, after);
      const leave = () => {
        const left = (waiting.get(flow) ?? 0) - costOf(text);
        if (left > 0) waiting.set(flow, left);
        else waiting.delete(flow);
      };
      return { isLight, leave };
    },

    /** Whether more than one account embeds texts. */
    areSeveral: (): boolean => performance.now() < sharedUntil,
  };
}
