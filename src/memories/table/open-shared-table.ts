import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Base } from "../base/base.ts";
import { type Checkpoint, type Head, isSameBase } from "../log/records.ts";
import type { NumberedEntry, SharedLog } from "../log/shared-log.ts";
import { createTable } from "./create-table.ts";
import { countUsage, loggedModel, openingFailed } from "./open-table.ts";
import { decodeEntry } from "./replay.ts";
import type { Storage } from "./storage.ts";
import type { KeptTable, Room } from "./table.ts";

/** How often opening is tried when other processes record a newer base each time. */
const MAX_TRIES = 5;

/**
 * Opens a table from its checkpoint and its log, while other processes write to it.
 * @throws AppError `unavailable` when that fails
 */
export async function openSharedTable(
  name: string,
  options: { storage: Storage; wanted: EmbeddingModel; largeRows: number; room: Room },
  log: SharedLog,
): Promise<KeptTable> {
  try {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const table = await tryToOpen(name, options, log);
      if (table) return table;
    }
    throw new Error(`bases of ${name} are recorded faster than they can be opened`);
  } catch (error) {
    throw openingFailed(error);
  }
}

/** @returns `null` when another process recorded a newer base meanwhile, or replaced the table */
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
    // A replaced base may be removed at any moment.
    const now = await storage.log.head(name);
    if (!now !== !head || !isSameBase(now?.checkpoint, head?.checkpoint)) return null;
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
  const read = await readLogged(name, upTo, log);
  if (head && !read) throw new Error(`${name} has been dropped`);
  const { logged, seq } = read ?? { logged: [], seq: 0 };
  const { codec } = storage;
  const entries = logged.map((each) => ({ seq: each.seq, outcome: decodeEntry(codec, each) }));
  // If no entry follows the base, the head's usage is still right.
  const usage = logged.at(-1)?.usage ?? head?.usage;
  const table = createTable({
    name,
    base,
    entries,
    codec,
    model: base?.model ?? (await loggedModel(name, entries, storage.log, wanted)),
    usage: usage ?? { memories: 0, bytes: 0 },
    seq,
    ...limits,
  });
  if (base && !usage) table.recount(await countUsage(table));
  return table;
}

/** All entries after a checkpoint, and the number of the last one. `null` when the table does not exist. */
async function readLogged(name: string, upTo: number, log: SharedLog) {
  const logged: NumberedEntry[] = [];
  for (let seq = upTo; ; ) {
    const since = await log.since(name, seq);
    if (!since) return null;
    if (since.upTo > seq) throw new Error(`another base of ${name} has been recorded`);
    logged.push(...since.entries);
    seq = logged.at(-1)?.seq ?? since.seq;
    if (seq >= since.seq) return { logged, seq };
  }
}
