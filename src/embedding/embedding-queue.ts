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

/** An account's texts of one kind. */
interface Flow {
  readonly kind: TextKind;
  readonly jobs: Map<number, Job>;
  /** The work that it got, by its weight. */
  work: number;
  oldestTurn: boolean;
}

/**
 * Waiting texts, in the order of their next runs of the model. Start-time fair queueing: the next run belongs to the flow that got the least work. A flow that begins to
 * wait starts level with the others, so that nobody saves up a share. Within a flow the oldest and the
 * shortest text take turns, so that a sentence does not wait minutes behind a batch of books, and books do
 * not wait forever behind sentences.
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
        oldestTurn: false,
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
      if (!flow) return null;
      flow.oldestTurn = !flow.oldestTurn;
      const [oldest] = flow.jobs.values();
      const job = (flow.oldestTurn ? oldest : shortest(flow.jobs.values())) ?? null;
      level = flow.work;
      flow.work += (Math.min(job?.text.length ?? 0, LONGEST) + RUN) / WEIGHTS[flow.kind];
      return job;
    },
    remove(id: number): void {
      for (const { jobs } of flows.values()) jobs.delete(id);
    },
  };
}

function shortest(jobs: Iterable<Job>): Job | undefined {
  let found: Job | undefined;
  for (const job of jobs) {
    if (!found || job.text.length < found.text.length) found = job;
  }
  return found;
}

/** Characters of a text that one run of some 20 ms embeds. */
const MAX_SHORT = 500;
/** How many texts of an account wait before the next one counts as one of many. */
const MAX_LIGHT = 2;
/** Milliseconds for which several accounts count as embedding texts after they did. */
const SHARED_MS = 5_000;

/** The accounts whose texts wait for an engine. */
export function createWaitingAccounts() {
  /** How many texts of each kind an account has waiting. */
  const counts = new Map<string, number>();
  let last = "";
  let sharedUntil = Number.NEGATIVE_INFINITY;

  const count = (flow: string, change: 1 | -1): number => {
    const counted = (counts.get(flow) ?? 0) + change;
    if (counted > 0) counts.set(flow, counted);
    else counts.delete(flow);
    return counted;
  };

  return {
    /**
     * Notes a text that begins to wait.
     * @returns whether it is light, and a function to call when it no longer waits
     */
    enter(type: TextKind, text: string, accountId: string) {
      if (last !== "" && accountId !== last) sharedUntil = performance.now() + SHARED_MS;
      last = accountId;
      const flow = `${type} ${accountId}`;
      const isLight = count(flow, 1) <= MAX_LIGHT && text.length <= MAX_SHORT;
      return { isLight, leave: () => void count(flow, -1) };
    },

    /** Whether more than one account embeds texts. */
    areSeveral: (): boolean => performance.now() < sharedUntil,
  };
}
