import type { Log } from "../../../src/memories/log/log.ts";
import type { Checkpoint, Entry, IdempotencyRecord } from "../../../src/memories/log/records.ts";

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
