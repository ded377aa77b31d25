import { isDiskFull } from "../disk-errors.ts";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { AppError } from "../errors.ts";
import { modelNamed } from "./base/schema.ts";
import type { Vault } from "./base/vault.ts";
import type { Checkpoint } from "./log/log.ts";
import { accountOf, manifestFile } from "./log/names.ts";
import type { Outcome } from "./log/pending.ts";
import { bytesOf, type Usage } from "./quota.ts";
import type { Storage } from "./storage.ts";
import { createTable, type KeptTable, type Room } from "./table.ts";

/**
 * Opens a table as its last checkpoint and the log have it.
 * @param wanted makes the vectors of a new table
 * @throws AppError `unavailable` when that can't be done now
 */
export async function openTable(
  name: string,
  options: { storage: Storage; wanted: EmbeddingModel; largeRows: number; room: Room },
): Promise<KeptTable> {
  try {
    return await open(name, options);
  } catch (error) {
    throw unopened(error);
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
  const entries = logged.map(({ seq, written, removed, hasRemains }) => ({
    seq,
    outcome: { written: written ? codec.decode(written) : [], removed, hasRemains },
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

/** Makes the files of a table's base what its checkpoint says. */
async function restoreBase(
  name: string,
  { base, version, files }: Checkpoint,
  vault: Vault,
): Promise<void> {
  // An earlier version, whose bases are named as their tables, lists files that it removed later: those
  // of older versions. The library misses one that is needed.
  const isOfEarlier = base === name;
  const there = new Set(isOfEarlier ? await vault.files(base) : files);
  const needed = files.filter((file) => there.has(file) || file === manifestFile(version));
  await vault.restore(base, needed);
}

/** What made the vectors that the log has of a table without a base: the wanted one where it doesn't say. */
export async function loggedModel(
  name: string,
  entries: readonly { outcome: Pick<Outcome, "written"> }[],
  log: Storage["log"],
  wanted: EmbeddingModel,
): Promise<EmbeddingModel> {
  const current = await log.current(accountOf(name));
  const [vector] = entries.flatMap(({ outcome }) => outcome.written)[0]?.vectors ?? [];
  if (current?.name !== name || !current.model || !vector) return wanted;
  return current.model === wanted.id ? wanted : modelNamed(current.model, vector.length);
}

export async function countUsage(table: KeptTable): Promise<Usage> {
  const usage = { memories: 0, bytes: 0 };
  for await (const rows of table.rows()) {
    usage.memories += rows.length;
    for (const row of rows) usage.bytes += bytesOf(row);
  }
  return usage;
}

/** What a request is told when a table can't be opened. */
export function unopened(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}
