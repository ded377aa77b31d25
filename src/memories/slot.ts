import { isDiskFull } from "../disk-errors.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { AppError } from "../errors.ts";
import type { Keeper } from "./keeper.ts";
import type { MemoryTable } from "./table.ts";
import type { Writer } from "./writer.ts";

export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
  /** Of the model that the table's vectors are made by. */
  embedder: Embedder;
}

/** A table that is open, or about to be. */
export interface Slot {
  opened: Promise<OpenTable>;
  keeper: Keeper | null;
  users: number;
  /** Resolves when what ends the table is done; null while nothing does. */
  ending: Promise<void> | null;
  /** Called when the last user has left. */
  onLeft: (() => void) | null;
}

/** @param open is called once, with the slot */
export function newSlot(open: (slot: Slot) => Promise<OpenTable>): Slot {
  const slot: Slot = {
    opened: Promise.resolve()
      .then(() => open(slot))
      .catch((error) => {
        throw unopened(error);
      }),
    keeper: null,
    users: 0,
    ending: null,
    onLeft: null,
  };
  return slot;
}

/** What a request is told when a table can't be opened. */
function unopened(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}

/** Resolves when the last user has left. */
export function whenLeft(slot: Slot): Promise<void> {
  return new Promise((resolve) => {
    slot.onLeft = resolve;
  });
}

/** @throws Error when it takes more milliseconds than `limit` */
export async function atMost(limit: number, work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`waited for ${limit} ms`)), limit);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
