import type { Log } from "../../../src/memories/log/log.ts";
import type { Checkpoint, Entry, IdempotencyRecord } from "../../../src/memories/log/records.ts";
import { withLease } from "../../../src/memories/log/shared-log.ts";

/** A database with the accounts acc_0, acc_1 and acc_2 and nothing of the log, for one test. */
export interface LogPlace {
  /** Opens the log as a process does that starts. */
  open(): Log;
  /** Ends the process that has it open, with nothing tidied up. */
  crash(): void | Promise<void>;
  /** Adds an account and gives its id. */
  addAccount(): Promise<string>;
}

export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (written: Uint8Array | null) => written && new TextDecoder().decode(written);

/** An entry that adds a memory with so many bytes of text. */
export const entryOf = (written: string, more: Partial<Entry> = {}): Entry => ({
  written: bytes(written),
  removed: [],
  model: "model",
  leavesOldData: false,
  usage: { memories: 1, bytes: written.length },
  answers: [],
  ...more,
});

export const checkpointOf = (upTo: number, base = "acc_1.0a0b0c0d", version = 1): Checkpoint => ({
  ...{ base, version, upTo },
  files: [`_versions/${version}.manifest`, "data/1.lance"],
});

/** Records a base as a flush does: in a log that several processes share, under a lease. */
export async function recordBase(log: Log, table: string, checkpoint: Checkpoint): Promise<void> {
  const { shared } = log;
  if (!shared) return await log.checkpoint(table, checkpoint);
  const hasRun = await withLease(shared, { table, owner: "flush" }, async (lease) => {
    await shared.records.begin(checkpoint.base);
    await log.checkpoint(table, checkpoint, lease);
  });
  if (!hasRun) throw new Error("no lease");
}

/** A log under test, and what its tests do with it. */
export interface LogUnderTest {
  place: LogPlace;
  log: Log;
  /** Opens the log again after a crash. */
  reopen(): Promise<void>;
  /** The texts of a table's entries. */
  textsOf(table: string): Promise<(string | null)[]>;
}

export const answerOf = (
  accountId: string,
  more: Partial<IdempotencyRecord> = {},
): IdempotencyRecord => ({
  accountId,
  keyHash: "k",
  requestHash: "r",
  memoryIds: ["mem_1", "mem_2"],
  createdAt: 1_000_000,
  ...more,
});
