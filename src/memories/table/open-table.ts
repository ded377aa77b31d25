import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { AppError } from "../../errors.ts";
import { isDiskFull } from "../../system/disk-errors.ts";
import type { Base } from "../base/base.ts";
import { modelNamed } from "../base/schema.ts";
import type { Vault } from "../base/vault.ts";
import { accountOf, manifestFile, tableFor } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import { type Checkpoint, type Head, isSameBase } from "../log/records.ts";
import type { NumberedEntry, SharedLog } from "../log/shared-log.ts";
import { bytesOf, type Usage } from "../model/quota.ts";
import { createTable } from "./create-table.ts";
import { decodeEntry } from "./replay.ts";
import type { Storage } from "./storage.ts";
import type { KeptTable, Room } from "./table.ts";

/**
 * Opens a table from its checkpoint and its log.
 * @param wanted the model of a new table
 * @throws AppError `unavailable` when that fails
 */
export async function openTable(
  name: string,
  options: { storage: Storage; wanted: EmbeddingModel; largeRows: number; room: Room },
): Promise<KeptTable> {
  try {
    return await open(name, options);
  } catch (error) {
    throw openingFailed(error);
  }
}

async function open(
  name: string,
  { storage: { log, vault, bases, codec }, wanted, ...limits }: Parameters<typeof openTable>[1],
): Promise<KeptTable> {
  const head = await log.head(name);
  const checkpoint = head?.checkpoint ?? null;
  if (checkpoint) await restoreBase(name, checkpoint, vault);
  const base = checkpoint && (await bases.open(checkpoint));
  const logged = await log.entries(name);
  const entries = logged.map(({ seq, written, removed, leavesOldData }) => ({
    seq,
    outcome: { written: written ? codec.decode(written) : [], removed, leavesOldData },
  }));
  const table = createTable({
    name,
    model: base?.model ?? (await loggedModel(name, entries, log, wanted)),
    base,
    entries,
    usage: head?.usage ?? { memories: 0, bytes: 0 },
    seq: head?.seq ?? 0,
    codec,
    ...limits,
  });
  if (head && !head.usage) table.recount(await countUsage(table));
  return table;
}

/** Restores the base's files that its checkpoint lists, and removes all others. */
async function restoreBase(
  name: string,
  { base, version, files }: Checkpoint,
  vault: Vault,
): Promise<void> {
  // Bases of an earlier version of ctxd have their table's name. Their checkpoints list files that were
  // removed later. LanceDB fails when a file is missing that it needs.
  const isOfEarlierVersion = base === name;
  const existing = new Set(isOfEarlierVersion ? await vault.files(base) : files);
  const needed = files.filter((file) => existing.has(file) || file === manifestFile(version));
  await vault.restore(base, needed);
}

/**
 * The model of a table without a base, from the log; the wanted model where the log does not name one.
 * @throws Error for a table that is not the account's and not a copy for the wanted model
 */
async function loggedModel(
  name: string,
  entries: readonly { outcome: Pick<Outcome, "written"> }[],
  log: Storage["log"],
  wanted: EmbeddingModel,
): Promise<EmbeddingModel> {
  const current = await log.current(accountOf(name));
  const [vector] = entries.flatMap(({ outcome }) => outcome.written)[0]?.vectors ?? [];
  if (!current?.model || !vector) return wanted;
  if (current.name !== name) {
    if (name === tableFor(accountOf(name), wanted.id)) return wanted;
    throw new Error(`the model of ${name} is unknown`);
  }
  return current.model === wanted.id ? wanted : modelNamed(current.model, vector.length);
}

/** Counts a table's usage from its memories. */
async function countUsage(table: KeptTable): Promise<Usage> {
  const usage = { memories: 0, bytes: 0 };
  for await (const rows of table.rows()) {
    usage.memories += rows.length;
    for (const row of rows) usage.bytes += bytesOf(row);
  }
  return usage;
}

/** The error that a request receives when its table can't be opened. */
function openingFailed(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}

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
