import { AppError } from "../errors.ts";
import type { Filter } from "./filter.ts";
import { rowIds, type StoredMemory } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** A change of single memories. If `apply` throws, this change fails and the others go on. */
export interface Change<Result> {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  apply(draft: Draft): Result;
}

/** The memories of a group of changes, as the changes before left them. */
export interface Draft {
  get(id: string): StoredMemory | null;
  put(memory: StoredMemory): void;
  remove(id: string): void;
}

/** The one way to write to a table. */
export interface Writer {
  change<Result>(change: Change<Result>): Promise<Result>;
  /** Removes all memories that a filter lets pass and returns how many there were. */
  removeMatching(filter: Filter): Promise<number>;
  /** Resolves when nothing is being written or waits. */
  idle(): Promise<void>;
}

interface Job {
  run(draft: Draft): void;
  ids: readonly string[];
  filter: Filter | null;
  done(removed: number): void;
  fail(error: unknown): void;
}

/** Changes that one commit takes at most, and that may wait for the next one. */
const GROUP = 512;
const MAX_WAITING = 4_096;

/**
 * Writes to one table, one commit at a time. While a commit runs, changes wait, and the next commit
 * takes all of them (group commit): each is answered when it is in the table.
 */
export function createWriter(table: MemoryTable): Writer {
  let waiting: Job[] = [];
  let running: Promise<void> | null = null;

  const enqueue = (job: Job) => {
    if (waiting.length >= MAX_WAITING) {
      throw new AppError("unavailable", "Too many writes are waiting. Try again in a moment.", {
        retryAfter: 1,
      });
    }
    waiting.push(job);
    running ??= drain().finally(() => {
      running = null;
    });
  };

  const drain = async () => {
    // Writes that come in the same turn of the event loop share a commit.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.slice(0, GROUP);
      waiting = waiting.slice(GROUP);
      try {
        await commitGroup(table, group);
      } catch (cause) {
        const error = new AppError("unavailable", "The memories could not be written. Try again.", {
          cause,
        });
        for (const job of group) job.fail(error);
      }
    }
  };

  return {
    change: ({ ids, apply }) =>
      new Promise((resolve, reject) => {
        let answer: () => void = () => reject(new Error("a change was answered before it ran"));
        enqueue({
          ids,
          filter: null,
          run(draft) {
            const result = apply(draft);
            answer = () => resolve(result);
          },
          done: () => answer(),
          fail: reject,
        });
      }),
    removeMatching: (filter) =>
      new Promise((resolve, reject) => {
        enqueue({ ids: [], filter, run() {}, done: resolve, fail: reject });
      }),
    idle: async () => {
      while (running) await running;
    },
  };
}

async function commitGroup(table: MemoryTable, group: readonly Job[]) {
  const removed = new Map<Job, number>();
  for (const job of group) {
    if (job.filter) removed.set(job, await table.removeMatching(job.filter));
  }
  const draft = createDraft(await table.load([...new Set(group.flatMap((job) => job.ids))]));
  const succeeded = group.filter((job) => {
    try {
      job.run(draft);
      return true;
    } catch (error) {
      job.fail(error);
      return false;
    }
  });
  await draft.commit(table);
  for (const job of succeeded) job.done(removed.get(job) ?? 0);
}

function createDraft(loaded: readonly StoredMemory[]) {
  const before = new Map(loaded.map((memory) => [memory.id, memory]));
  const after = new Map<string, StoredMemory | null>();
  return {
    get: (id: string) => (after.has(id) ? after.get(id) : before.get(id)) ?? null,
    put: (memory: StoredMemory) => void after.set(memory.id, memory),
    remove: (id: string) => void after.set(id, null),

    async commit(to: MemoryTable) {
      const written = [...after.values()].filter((memory) => memory !== null);
      const isNew = written.every(({ id }) => !before.has(id));
      if (written.length > 0) await (isNew ? to.add(written) : to.upsert(written));

      const obsolete = [...after].flatMap(([id, memory]) =>
        rowIds(id, before.get(id)?.vectors.length ?? 0).slice(memory?.vectors.length ?? 0),
      );
      if (obsolete.length > 0) await to.removeRows(obsolete);
    },
  };
}
