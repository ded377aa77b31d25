import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Base } from "../base/base.ts";
import { type Checkpoint, type Head, isSameBase } from "../log/log.ts";
import type { NumberedEntry, SharedLog } from "../log/shared-log.ts";
import { countUsage, loggedModel, unopened } from "../open-table.ts";
import type { Storage } from "../storage.ts";
import { createTable, type KeptTable, type Room } from "../table.ts";
import { decodeEntry } from "./replay.ts";

/** How often a table is opened while others record bases of it meanwhile. */
const MOST_TRIES = 5;

/**
 * Opens a table as its last checkpoint and the log have it, while other processes write to it.
 * @throws AppError `unavailable` when that can't be done now
 */
export async function openSharedTable(
  name: string,
  options: { storage: Storage; wanted: EmbeddingModel; largeRows: number; room: Room },
  log: SharedLog,
): Promise<KeptTable> {
  try {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const table = await tryToOpen(name, options, log);
      if (table) return table;
    }
    throw new Error(`bases of ${name} are recorded faster than they can be opened`);
  } catch (error) {
    throw unopened(error);
  }
}

/** @returns `null` when a newer base was recorded meanwhile */
async function tryToOpen(
  name: string,
  { storage, ...options }: Parameters<typeof openSharedTable>[1],
  log: SharedLog,
): Promise<KeptTable | null> {
  const head = await storage.log.head(name);
  try {
    const base = head?.checkpoint ? await openBase(head.checkpoint, storage) : null;
    try {
      return await openOn(name, { head, base }, { storage, ...options }, log);
    } catch (error) {
      base?.close();
      throw error;
    }
  } catch (error) {
    // A base whose place another one has taken is removed at any moment.
    const now = await storage.log.head(name);
    if (!isSameBase(now?.checkpoint, head?.checkpoint)) return null;
    throw error;
  }
}

async function openBase(checkpoint: Checkpoint, { vault, bases }: Storage): Promise<Base> {
  await vault.restore(checkpoint.base, checkpoint.files);
  return await bases.open(checkpoint);
}

async function openOn(
  name: string,
  { head, base }: { head: Head | null; base: Base | null },
  { storage, wanted, ...limits }: Parameters<typeof openSharedTable>[1],
  log: SharedLog,
): Promise<KeptTable> {
  const upTo = base?.checkpoint.upTo ?? 0;
  const { logged, seq } = await readLogged(name, upTo, log);
  const { codec } = storage;
  const entries = logged.map((each) => ({ seq: each.seq, outcome: decodeEntry(codec, each) }));
  // Without an entry after the base, there is none since the head was read.
  const usage = logged.at(-1)?.usage ?? head?.usage;
  const table = createTable({
    ...{ name, base, entries, codec },
    model: base?.model ?? (await loggedModel(name, entries, storage.log, wanted)),
    usage: usage ?? { memories: 0, bytes: 0 },
    seq,
    ...limits,
  });
  if (base && !usage) table.recount(await countUsage(table));
  return table;
}

/** All entries after a checkpoint, and the number of the last. */
async function readLogged(name: string, upTo: number, log: SharedLog) {
  const logged: NumberedEntry[] = [];
  for (let seq = upTo; ; ) {
    const since = await log.since(name, seq);
    if (!since) return { logged, seq: 0 };
    if (since.upTo > seq) throw new Error(`${name} has got another base`);
    logged.push(...since.entries);
    seq = logged.at(-1)?.seq ?? since.seq;
    if (seq >= since.seq) return { logged, seq };
  }
}
