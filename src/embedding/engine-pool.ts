import { AppError } from "../errors.ts";
import type { Caller } from "./embedder.ts";
import { createWaitingAccounts } from "./embedding-queue.ts";
import {
  type Embeddings,
  type TextKind,
  unwanted,
  type WorkerConnection,
} from "./worker-connection.ts";

/** Characters that wait at an engine before another one is started: about a third of a second. */
const MAX_WAITING = 4_000;
/** Milliseconds after which an engine ends that has nothing to do. It takes some 85 MB of memory. */
const IDLE_MS = 20_000;
const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;

/** A text that waits for its embedding. */
interface Job {
  readonly type: TextKind;
  readonly text: string;
  readonly accountId: string;
  /** Whether it is short, and one of few of its kind that its account has waiting: a question, or a sentence to save. */
  readonly isLight: boolean;
  /** Whether an engine has ended while it had the text: the text may be the reason. */
  hasFailed: boolean;
  /** Takes the text from the engine that has it. */
  leave(): void;
  resolve(embedding: Embeddings[TextKind]): void;
  reject(error: unknown): void;
}

interface Engine {
  readonly connection: WorkerConnection;
  /** What it embeds or will embed, the oldest first. */
  readonly jobs: Set<Job>;
  /** Characters of `jobs`. */
  load: number;
  /** Ends the engine, while it has nothing to do. */
  idle?: ReturnType<typeof setTimeout> | undefined;
}

interface EnginePool {
  /** Resolves when the first engine is loaded; rejects when it ends before that. */
  ready(): Promise<void>;
  embed<Type extends TextKind>(type: Type, text: string, caller: Caller): Promise<Embeddings[Type]>;
  close(): Promise<void>;
}

/**
 * Engines that share the texts of an embedder. The first one always runs, and is started again whenever it ends. Others are
 * started while texts wait. From then on the first one has light texts only, so that a question or a sentence waits for nobody's
 * long or many texts. The others share the rest: one that has little to do takes texts over from the one with the most.
 *
 * Each engine shares its runs between accounts (see `createEmbeddingQueue`), so the texts of an account that sends many
 * delay nobody by more than one run, wherever they wait. While the second engine starts beside texts of several accounts, the
 * texts for it wait. Beside several accounts, further engines leave the processor to the first one and the main thread.
 * @param connect starts the first engine, or a further one
 * @param size how many engines there may be
 * @param onEnd is called when an engine has ended by itself; `restartMs` is null for one that is not started again
 */
export function createEnginePool({
  connect,
  size,
  onEnd,
  idleMs = IDLE_MS,
}: {
  connect: (which: "first" | "further") => WorkerConnection;
  size: number;
  onEnd: (reason: Error, restartMs: number | null) => void;
  idleMs?: number;
}): EnginePool {
  /** Engines beside the first one that are loaded. */
  const others = new Set<Engine>();
  const held = createHeldJobs();
  const accounts = createWaitingAccounts();
  let failures = 0;
  let restart: ReturnType<typeof setTimeout> | undefined;
  let starting: WorkerConnection | null = null;
  let startAfter = 0;
  let closed = false;
  let first = startFirst();

  function startFirst(): Engine {
    const connection = connect("first");
    void connection.ended.then((reason) => {
      if (closed) return;
      const delay = Math.min(MAX_RESTART_MS, FIRST_RESTART_MS * 2 ** failures++);
      onEnd(reason, delay);
      restart = setTimeout(() => {
        first = startFirst();
      }, delay);
    });
    return { connection, jobs: new Set(), load: 0 };
  }

  const startAnother = () => {
    if (closed || starting || others.size + 1 >= size || performance.now() < startAfter) return;
    const connection = connect("further");
    const engine: Engine = { connection, jobs: new Set(), load: 0 };
    starting = connection;
    if (areHeld()) for (const job of heavyOf(first)) held.add(job);
    connection.loaded.then(
      () => {
        starting = null;
        others.add(engine);
        takeOver(engine);
        if (isBehind(engine)) startAnother();
      },
      () => {},
    );
    void connection.ended.then((reason) => {
      const wasNeeded = others.delete(engine) || starting === connection;
      if (starting === connection) starting = null;
      if (!starting && others.size === 0) for (const job of held.take()) give(job, first);
      if (!wasNeeded || closed) return;
      startAfter = performance.now() + MAX_RESTART_MS;
      onEnd(reason, null);
    });
  };

  const further = () => [...[...others].map(({ connection }) => connection), starting ?? []].flat();

  const endWhenIdle = (engine: Engine) => {
    engine.idle ??= setTimeout(() => {
      others.delete(engine);
      void engine.connection.end(new Error("The engine had nothing to do."));
    }, idleMs).unref();
  };

  const areHeld = () => starting && others.size === 0 && accounts.areSeveral();

  const give = (job: Job, engine: Engine) => {
    const leave = enter(job, engine);
    const left = new AbortController();
    job.leave = () => {
      if (leave()) left.abort();
    };
    const { type, text, accountId } = job;
    engine.connection.embed(type, text, { accountId, signal: left.signal }).then(
      (embedding) => {
        if (left.signal.aborted || !leave()) return;
        if (engine === first) failures = 0;
        job.resolve(embedding);
        takeOver(engine);
      },
      (error) => {
        if (left.signal.aborted || !leave()) return;
        const hasEnded = isUnavailable(error);
        const [another = first] = leastLoaded(others).filter((each) => each !== engine);
        const mayRetry = hasEnded && !job.hasFailed && !closed && another !== engine;
        job.hasFailed = true;
        if (mayRetry) give(job, another);
        else job.reject(error);
        if (!hasEnded) takeOver(engine);
      },
    );
  };

  /** Gives an engine with little to do the heavy texts of the first one, or some of the one with the most. */
  const takeOver = (engine: Engine) => {
    if (closed || engine.jobs.size > 1 || !others.has(engine)) return;
    for (const job of held.take()) give(job, engine);
    const heavy = heavyOf(first);
    for (const job of heavy.length > 0 ? heavy : excessOf(others, engine)) {
      job.leave();
      give(job, engine);
    }
    if (engine.jobs.size === 0) endWhenIdle(engine);
  };

  return {
    ready: () => first.connection.loaded,

    embed(type, text, { accountId, signal }) {
      if (signal?.aborted) return Promise.reject(unwanted());
      const { promise, resolve, reject } = Promise.withResolvers<Embeddings[typeof type]>();
      const { isLight, leave } = accounts.enter(type, text, accountId);
      const job: Job = {
        ...{ type, text, accountId, isLight, reject, hasFailed: false, leave: () => {} },
        // The engine answers with an embedding of the requested kind.
        resolve: (embedding) => resolve(embedding as Embeddings[typeof type]),
      };
      const [least = first] = leastLoaded(others);
      const engine = isLight && !isBehind(first) ? first : least;
      if (!isLight && areHeld()) held.add(job);
      else give(job, engine);
      if (isBehind(engine)) startAnother();
      if (accounts.areSeveral()) for (const each of further()) each.giveWay();
      const embedded = promise.finally(leave);
      if (!signal) return embedded;
      const cancel = () => {
        job.leave();
        reject(unwanted());
        for (const each of others) takeOver(each);
      };
      signal.addEventListener("abort", cancel, { once: true });
      return embedded.finally(() => signal.removeEventListener("abort", cancel));
    },

    async close() {
      closed = true;
      clearTimeout(restart);
      const reason = new Error("The embedder was closed.");
      for (const job of held.take()) job.reject(unwanted());
      for (const { idle } of others) clearTimeout(idle);
      await Promise.all([first.connection, ...further()].map((each) => each.end(reason)));
    },
  };
}

/** Texts that wait for the second engine, which is starting. */
function createHeldJobs() {
  const jobs = new Set<Job>();
  return {
    add(job: Job): void {
      job.leave();
      job.leave = () => jobs.delete(job);
      jobs.add(job);
    },
    /** Removes all. */
    take(): Job[] {
      const taken = [...jobs];
      jobs.clear();
      return taken;
    },
  };
}

function heavyOf({ jobs }: Engine): Job[] {
  return [...jobs].filter(({ isLight }) => !isLight);
}

/** Adds a text to an engine. @returns a function that removes it; false if it was removed before */
function enter(job: Job, engine: Engine): () => boolean {
  clearTimeout(engine.idle);
  engine.idle = undefined;
  engine.jobs.add(job);
  engine.load += job.text.length;
  return () => {
    if (!engine.jobs.delete(job)) return false;
    engine.load -= job.text.length;
    return true;
  };
}

/** Whether so much waits that another engine is worth its start. */
function isBehind({ jobs, load }: Engine): boolean {
  return load > MAX_WAITING && jobs.size > 1;
}

function leastLoaded(engines: Iterable<Engine>): Engine[] {
  return [...engines].sort((a, b) => a.load - b.load);
}

/** The newest texts of the busiest engine, as many as it has more than another one needs. The oldest is probably begun. */
function excessOf(engines: Iterable<Engine>, engine: Engine): Job[] {
  const busiest = leastLoaded(engines)
    .filter(({ jobs, load }) => jobs.size > 1 && load > engine.load)
    .at(-1);
  if (!busiest) return [];
  const kept = Math.ceil((busiest.jobs.size + engine.jobs.size) / 2);
  return [...busiest.jobs].slice(kept);
}

/** Memory for each engine that is started by default: a small machine needs it for other things. */
const MEMORY_SHARE = 512 << 20;
const MAX_DEFAULT_OTHERS = 8;

/** How many engines a machine may have, unless a setting says it. The first one needs little while others run. */
export function defaultEngines({ cores, memory }: { cores: number; memory: number }): number {
  const others = Math.min(Math.floor(cores), Math.floor(memory / MEMORY_SHARE) - 1);
  return 1 + Math.max(0, Math.min(others, MAX_DEFAULT_OTHERS));
}

/** Whether an embedding failed because its engine has ended. */
function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === "unavailable";
}
