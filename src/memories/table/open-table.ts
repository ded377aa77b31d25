import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { AppError } from "../../errors.ts";
import { isDiskFull } from "../../system/disk-errors.ts";
import { modelNamed } from "../base/schema.ts";
import type { Vault } from "../base/vault.ts";
import { accountOf, manifestFile, tableFor } from "../log/names.ts";
import type { Outcome } from "../log/pending.ts";
import type { Checkpoint } from "../log/records.ts";
import { bytesOf, type Usage } from "../model/quota.ts";
import { createTable } from "./create-table.ts";
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
export async function loggedModel(
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
export async function countUsage(table: KeptTable): Promise<Usage> {
  const usage = { memories: 0, bytes: 0 };
  for await (const rows of table.rows()) {
    usage.memories += rows.length;
    for (const row of rows) usage.bytes += bytesOf(row);
  }
  return usage;
}

/** The error that a request receives when its table can't be opened. */
export function openingFailed(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}
