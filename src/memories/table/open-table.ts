import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { AppError } from "../../errors.ts";
import { isDiskFull } from "../../system/disk-errors.ts";
import { modelNamed } from "../base/base.ts";
import type { Vault } from "../base/vault.ts";
import { accountOf, manifestFile, tableFor } from "../log/log.ts";
import type { Outcome } from "../log/pending.ts";
import { type Checkpoint, type Head, isSameBase } from "../log/records.ts";
import type { NumberedEntry, SharedLog } from "../log/shared-log.ts";
import { bytesOf, type Usage } from "../model/quota.ts";
import { createTable } from "./create-table.ts";
import { decodeEntry } from "./replay.ts";
import type { Storage } from "./storage.ts";
import type { KeptTable, ViewMemory } from "./table.ts";

/** How often opening is tried when other processes record a newer base each time. */
const MAX_OPENING_TRIES = 5;

interface TableOptions {
  storage: Storage;
  /** The model of a new table. */
  wanted: EmbeddingModel;
  largeRows: number;
  viewMemory: ViewMemory;
}

/**
 * Opens a table from its checkpoint and its log.
 * @throws AppError `unavailable` when that fails
 */
export async function openTable(name: string, options: TableOptions): Promise<KeptTable> {
  const { log } = options.storage;
  try {
    if (!log.shared) return await openAt(await log.head(name), name, options);
    for (let tries = 0; tries < MAX_OPENING_TRIES; tries++) {
      const table = await openAmongOthers(name, options);
      if (table) return table;
    }
    throw new Error(`bases of ${name} are recorded faster than they can be opened`);
  } catch (error) {
    throw openingFailed(error);
  }
}

/**
 * Opens a table that other processes write to.
 * @returns `null` when another process recorded a newer base meanwhile, or replaced the table
 */
async function openAmongOthers(name: string, options: TableOptions): Promise<KeptTable | null> {
  const { log } = options.storage;
  const head = await log.head(name);
  try {
    return await openAt(head, name, options);
  } catch (error) {
    // A replaced base may be removed at any moment.
    const now = await log.head(name);
    if (!now !== !head || !isSameBase(now?.checkpoint, head?.checkpoint)) return null;
    throw error;
  }
}

async function openAt(
  head: Head | null,
  name: string,
  { storage: { log, vault, bases, codec }, wanted, ...limits }: TableOptions,
): Promise<KeptTable> {
  const checkpoint = head?.checkpoint ?? null;
  if (checkpoint) await restoreBase(name, checkpoint, vault);
  const base = checkpoint && (await bases.open(checkpoint));
  try {
    const { logged, seq, usage } = log.shared
      ? await readShared(name, head, log.shared)
      : { logged: await log.entries(name), seq: head?.seq ?? 0, usage: head?.usage };
    const entries = logged.map((each) => ({ seq: each.seq, outcome: decodeEntry(codec, each) }));
    const table = createTable({
      name,
      model: base?.model ?? (await loggedModel(name, entries, log, wanted)),
      base,
      entries,
      usage: usage ?? { memories: 0, bytes: 0 },
      seq,
      codec,
      ...limits,
    });
    if (head && !usage) table.recount(await countUsage(table));
    return table;
  } catch (error) {
    base?.close();
    throw error;
  }
}

/** All entries after a table's checkpoint, and the number and the usage of the last one. */
async function readShared(name: string, head: Head | null, log: SharedLog) {
  const logged: NumberedEntry[] = [];
  for (let seq = head?.checkpoint?.upTo ?? 0; ; ) {
    const since = await log.since(name, seq);
    if (!since) {
      if (head) throw new Error(`${name} has been dropped`);
      return { logged: [], seq: 0, usage: null };
    }
    if (since.upTo > seq) throw new Error(`another base of ${name} has been recorded`);
    logged.push(...since.entries);
    const last = logged.at(-1);
    seq = last?.seq ?? since.seq;
    // If no entry follows the base, the head's usage is still right.
    if (seq >= since.seq) return { logged, seq, usage: last?.usage ?? head?.usage };
  }
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
