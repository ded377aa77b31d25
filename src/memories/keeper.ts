import { join } from "node:path";
import type { Outcome } from "./draft.ts";
import type { Journal } from "./journal.ts";
import { rowIds } from "./rows.ts";
import type { MemoryTable } from "./table.ts";
import { ageFiles, listFiles, syncFiles, syncFolders } from "./table-files.ts";
import { requireWhole, TornFile } from "./whole-files.ts";
import type { Writer } from "./writer.ts";

/** When work on a table is due. Times are milliseconds, fragments come one with each commit. */
export const DUE = {
  /** The journal is emptied this long after the first write. */
  checkpointAfter: 3_000,
  /** Fragments are merged after so many commits, or when this long none has come. */
  commits: 24,
  idle: 5_000,
  /** Merging waits so many times as long as it last took, unless there are this many commits. */
  restFactor: 9,
  urgentCommits: 32,
  /**
   * Rows from which merging all takes seconds. There, while writes come, only the rows that came since
   * are merged, up to so many.
   */
  largeRows: 5_000,
  recentRows: 1_000,
  /** Old versions are dropped after so many of these merges: that indexes the new rows, too. */
  unpruned: 4,
  /** What was deleted leaves the files this long after the answer; 60 s are promised. */
  purgeAfter: 20_000,
  /** The same with the time that the purges of other tables take, done one by one. */
  purgedWithin: 45_000,
  /** A chore that failed is tried again after this long. */
  retryAfter: 5_000,
  /** Writes wait for merging for this long after one has made it fail. */
  contended: 60_000,
  /**
   * Chores of all tables after which LanceDB's caches are made anew, at least as many as there are
   * tables. They hold every index that was ever searched, with its files open, also when it was
   * replaced long ago.
   */
  renewAfter: 32,
  /** The same when no table has anything to do: then nobody waits, and memory is given back. */
  renewAfterAtRest: 4,
  /**
   * Rows from which LanceDB's index of vectors is faster than comparing all. It is as large as the
   * vectors, so it is made only when searches have no room in memory for the table.
   */
  vectorIndexRows: 5_000,
  /** Segments of that index (each merge adds one) at which it is made anew as one. */
  vectorSegments: 8,
  /** The same when no write is coming: every segment makes each search slower. */
  vectorSegmentsAtRest: 2,
  /** Rows up to which making it anew takes a tenth of a second: there one segment is at rest. */
  quickIndexRows: 20_000,
};
export type Due = typeof DUE;

export type Chore = "recover" | "purge" | "checkpoint" | "optimize";

/** Looks after one table: knows what is due and does it. Chores must not run at the same time. */
export interface Keeper {
  noteCommit(outcome: Outcome): void;
  /** Whether something that was deleted is still in the files. */
  hasRemains(): boolean;
  /** Whether it may be there for too long, if so many milliseconds go by until it is gone. */
  isLate(ahead: number): boolean;
  /**
   * The most urgent chore that is due; `null` when none is.
   * @param ahead milliseconds that purging all tables with remains will take
   * @param isInExcess the table is to be closed, and nothing shall be waited for
   */
  due(ahead: number, isInExcess: boolean): Chore | null;
  run(chore: Chore): Promise<void>;
  /** Whether there is nothing to do, now or later. */
  isIdle(): boolean;
  /** Whether nothing is to be done but merging, which can wait until the table is opened again. */
  canRest(): boolean;
  /** What is to be done, for a keeper that takes over. */
  debts(): Debts;
}

/** What a table waits for. Times are those of `performance.now()`. */
export interface Debts {
  /** When it changed first since its checkpoint; `null` when it has not. */
  dirtySince: number | null;
  /** When something was deleted first that is still in the files. */
  remainsSince: number | null;
  /** Commits since fragments were last merged. */
  commits: number;
  /**
   * Whether a file is torn or was not synced: Linux drops what it could not write, and a second sync
   * succeeds without it. Then what was written since the last checkpoint is in the journal alone.
   */
  isDamaged: boolean;
  /** Until when nothing is done but what mends it, since a chore has failed. */
  retryAt: number;
}

/** @param folder the table's */
export function createKeeper({
  name,
  folder,
  table,
  writer,
  journal,
  due,
  debts,
  recover,
}: {
  name: string;
  folder: string;
  table: MemoryTable;
  writer: Pick<Writer, "pause" | "isSettled">;
  journal: Journal;
  due: Due;
  debts: Debts;
  /**
   * Opens the table anew from its last checkpoint and the journal, with another keeper.
   * @throws what the disk reports, as long as it can't be relied on
   */
  recover: () => Promise<void>;
}): Keeper {
  const { upkeep } = table;
  // Not the time of day: a clock that is set must not put off what is due.
  const clock = () => performance.now();
  let synced = new Set<string>();
  let { dirtySince, remainsSince, commits, isDamaged, retryAt } = debts;
  /** Ids of the rows that came since all were merged; `null` when they are too many or unknown. */
  let recent: Set<string> | null = null;
  let hasSeenToRoom = false;
  let unpruned = 0;
  let lastRemoval = 0;
  let lastCommit = commits > 0 ? clock() : 0;
  let restUntil = 0;
  let hasRecoverFailed = false;
  let contendedUntil = 0;
  let isRunning = false;

  /** The present state. No write may be under way. */
  const takeSnapshot = async () => {
    dirtySince = null;
    const [version, files] = [await table.version(), await listFiles(folder)];
    const state = { version, files, hasRemains: remainsSince !== null };
    return { state, upTo: journal.lastSeq(name) };
  };

  const makeDurable = async (files: readonly string[]) => {
    if (isDamaged) throw new Error("files of the table are damaged");
    try {
      for (const file of files) requireWhole(join(folder, file));
      await syncFiles(folder, files);
    } catch (error) {
      isDamaged = true;
      throw error;
    }
  };

  /** @returns whether what it drops from the journal is in no file any more */
  const record = async ({ state, upTo }: Awaited<ReturnType<typeof takeSnapshot>>) => {
    try {
      await makeDurable(state.files.filter((file) => !synced.has(file)));
      const isForgotten = journal.recordCheckpoint(name, state, upTo);
      synced = new Set(state.files);
      return isForgotten;
    } catch (error) {
      dirtySince ??= clock();
      throw error;
    }
  };

  /** Makes the present state the one to come back to, and returns its version. */
  const checkpoint = async (): Promise<number> => {
    const snapshot = await writer.pause(takeSnapshot);
    await record(snapshot);
    return snapshot.state.version;
  };

  /**
   * Merging fails when a row of the fragments that it reads is replaced or removed meanwhile, and
   * leaves a copy of them behind. Where that has happened, writes wait for it.
   */
  const undisturbed = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    if (clock() >= contendedUntil) {
      try {
        return await task();
      } catch {
        contendedUntil = clock() + due.contended;
      }
    }
    return await writer.pause(task);
  };
  const merge = () => undisturbed(upkeep.optimize);
  /** @param task merges all rows that are there when it begins */
  const renewRecent = async (task: () => Promise<void>) => {
    recent = new Set();
    try {
      await task();
    } catch (error) {
      recent = null;
      throw error;
    }
  };
  /** @returns whether it could */
  const mergeRecent = () =>
    writer.pause(async () => {
      if (!recent) return false;
      dirtySince ??= clock();
      await upkeep.gather([...recent]);
      // What it made is to be merged with all, later.
      commits++;
      return true;
    });

  /**
   * Removes what a checkpoint doesn't need.
   * @returns whether nothing older is left
   */
  const prune = async (version: number): Promise<boolean> => {
    // No write and no other chore is under way: a file of no version belongs to nothing.
    await writer.pause(() => ageFiles(folder));
    return await undisturbed(() => upkeep.prune(version));
  };

  /** Leaves the newest version alone, whatever the clock said when the others were made. */
  const pruneAll = () =>
    writer.pause(async () => {
      await upkeep.settle();
      await record(await takeSnapshot());
      if (!(await upkeep.pruneAll())) throw new Error("versions with deleted rows are left");
    });

  const mostSegments = (rows: number, isAtRest: boolean) => {
    if (!isAtRest) return due.vectorSegments;
    return rows <= due.quickIndexRows ? 1 : due.vectorSegmentsAtRest;
  };

  const mergeAll = async (isAtRest: boolean) => {
    hasSeenToRoom = table.lacksRoom();
    await merge();
    const { rows, fragments, vectorSegments } = await upkeep.stats();
    // What one pass has indexed the next one merges: not beside the versions that are dropped then.
    if (fragments > 1) await merge();
    const isWorthIt = vectorSegments === 0 && rows >= due.vectorIndexRows && !table.hasRoom(rows);
    if (!isWorthIt && vectorSegments <= mostSegments(rows, isAtRest)) return;
    await upkeep.indexVectors();
    // Only now do all fragments have the same indexes, and can be merged.
    await merge();
  };

  const optimize = async () => {
    const started = clock();
    const isAtRest = started - lastCommit >= due.idle;
    const isLarge = recent && !isAtRest && (await upkeep.stats()).rows >= due.largeRows;
    if (isLarge && (await mergeRecent())) {
      unpruned++;
    } else {
      await renewRecent(() => mergeAll(isAtRest));
      unpruned = due.unpruned;
    }
    if (unpruned >= due.unpruned) {
      await prune(await checkpoint());
      unpruned = 0;
    }
    restUntil = clock() + due.restFactor * (clock() - started);
  };

  /**
   * Rewrites the rows without those that were deleted. LanceDB rewrites a fragment with few
   * deletions only when it merges it with another, so one row is moved to a fragment of its own
   * first.
   */
  const rewriteLarge = async () => {
    await writer.pause(upkeep.touch);
    await merge();
    const { vectorSegments } = await upkeep.stats();
    if (vectorSegments > 0) await upkeep.indexVectors();
    await merge();
  };

  /** Rewrites the table without what was deleted. */
  const purge = async () => {
    const started = clock();
    if (!(await writer.pause(upkeep.rewrite))) await renewRecent(rewriteLarge);
    await upkeep.rebuildIndexes();
    const { deletedRows } = await upkeep.stats();
    if (deletedRows > 0 && lastRemoval < started) {
      throw new Error(`${deletedRows} deleted rows are still in the files`);
    }
    // Another process must know of the old files until they are gone.
    if (!(await prune(await checkpoint()))) await pruneAll();
    await syncFolders(folder);
    const since = remainsSince;
    remainsSince = lastRemoval < started ? null : started;
    const isForgotten = await writer.pause(takeSnapshot).then(record);
    if (isForgotten) return;
    remainsSince = since;
    throw new Error("another process is reading the database's log");
  };

  /** What LanceDB took for whole when it was written, and can't read now. */
  const isTorn = () =>
    writer
      .pause(async () => {
        for (const file of await listFiles(folder)) {
          if (!synced.has(file)) requireWhole(join(folder, file));
        }
      })
      .then(
        () => false,
        (error) => error instanceof TornFile,
      );

  const canRest = () =>
    !isRunning && !isDamaged && writer.isSettled() && dirtySince === null && remainsSince === null;

  const chores: Record<Chore, () => Promise<unknown>> = { recover, purge, checkpoint, optimize };

  return {
    noteCommit({ written, isNew, removed }) {
      const now = clock();
      commits++;
      for (const { id, vectors } of written) {
        for (const row of rowIds(id, vectors.length)) recent?.add(row);
      }
      if ((recent?.size ?? 0) > due.recentRows) recent = null;
      lastCommit = now;
      dirtySince ??= now;
      if (isNew && removed.length === 0) return;
      lastRemoval = now;
      remainsSince ??= now;
    },

    hasRemains: () => remainsSince !== null,

    isLate: (ahead) => remainsSince !== null && clock() - remainsSince + ahead >= due.purgedWithin,

    due(ahead, isInExcess) {
      const now = clock();
      if (isDamaged && (now >= retryAt || !hasRecoverFailed)) return "recover";
      if (now < retryAt) return null;
      const isDue = (since: number | null, after: number) =>
        since !== null && (isInExcess || now - since >= after);
      const purgeAfter = Math.min(due.purgeAfter, Math.max(0, due.purgedWithin - ahead));
      if (isDue(remainsSince, purgeAfter)) return "purge";
      if (isDue(dirtySince, due.checkpointAfter)) return "checkpoint";
      // A purge merges fragments too, and is near.
      const isQuiet = remainsSince === null && now - lastCommit >= due.idle;
      const hasWork = commits > 0 || (table.lacksRoom() && !hasSeenToRoom);
      const isTime = commits >= due.commits || (hasWork && isQuiet);
      const isRested = now >= restUntil || commits >= due.urgentCommits;
      return isTime && isRested ? "optimize" : null;
    },

    async run(chore) {
      const merged = chore === "checkpoint" ? 0 : commits;
      commits -= merged;
      isRunning = true;
      try {
        await chores[chore]();
      } catch (error) {
        commits += merged;
        // A purge that can't be done would be in the way of the checkpoint that finds it out.
        isDamaged ||= await isTorn();
        hasRecoverFailed = chore === "recover";
        retryAt = clock() + due.retryAfter;
        throw error;
      } finally {
        isRunning = false;
      }
    },

    isIdle: () => canRest() && commits === 0,

    canRest,

    debts: () => ({ dirtySince, remainsSince, commits, isDamaged, retryAt }),
  };
}
