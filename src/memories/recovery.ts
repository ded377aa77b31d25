import { rename, rm } from "node:fs/promises";
import { isDiskFull } from "../disk-errors.ts";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Journal } from "./journal.ts";
import { rowIds, type StoredMemory } from "./rows.ts";
import type { MemoryTable } from "./table.ts";
import { hasVersion, listFiles, removeOtherFiles } from "./table-files.ts";

interface Recovery {
  name: string;
  folder: string;
  journal: Journal;
  /** Opens the table in `folder`, or makes it. */
  open: () => Promise<MemoryTable>;
  log: Log;
}

/**
 * Makes the files of a table what its last checkpoint says. Whatever else a crash left, whole or
 * torn, was never answered, or is in the journal. No handle of the table may be open: LanceDB
 * remembers versions by their numbers, and these come again.
 * @throws AppError `unavailable` when files of the checkpoint are missing
 */
export async function rollBackFiles({ name, folder, journal, log }: Recovery): Promise<void> {
  const checkpoint = journal.checkpoint(name);
  if (!checkpoint) return await removeUnfinished(folder);
  // Opening it would make an empty table, and the next checkpoint would make that final.
  if (!(await hasVersion(folder, checkpoint.version))) throw damaged(folder);
  const removed = await removeOtherFiles(folder, checkpoint.files);
  if (removed > 0) log.info("table_rolled_back", { table: name, removed });
}

/** A crash while a table is made leaves one without rows, which may be torn in any place. */
async function removeUnfinished(folder: string): Promise<void> {
  const hasRows = (await listFiles(folder)).some((file) => file.startsWith("data"));
  if (!hasRows) await rm(folder, { recursive: true, force: true });
}

/** Opens a table that no checkpoint knows. One that can't be read makes room for a new one. */
export async function openOrSetAside({ folder, open, log }: Recovery): Promise<MemoryTable> {
  try {
    return await open();
  } catch (error) {
    const isTorn = (await listFiles(folder)).some((file) => file.startsWith("data"));
    if (error instanceof AppError || isDiskFull(error) || !isTorn) throw error;
    const aside = `${folder}.damaged-${Date.now()}`;
    await rename(folder, aside);
    log.error("table_set_aside", { folder: aside, cause: String(error) });
    return await open();
  }
}

/** Writes again what the journal has. Doing it twice does no harm. */
export async function replayJournal(
  table: MemoryTable,
  { name, journal, log }: Pick<Recovery, "name" | "journal" | "log">,
): Promise<void> {
  const entries = journal.entries(name);
  if (entries.length === 0) return;
  await replay(table, entries);
  log.info("journal_replayed", { table: name, entries: entries.length });
}

function damaged(folder: string): AppError {
  return new AppError("unavailable", "This account's memories are damaged: restore a backup.", {
    cause: new Error(`${folder} lacks files that its checkpoint needs`),
  });
}

/** Writes journal entries again: of each row what the newest says. */
async function replay(table: MemoryTable, entries: ReturnType<Journal["entries"]>): Promise<void> {
  const memories = new Map<string, StoredMemory>();
  const gone = new Set<string>();
  for (const { written, removed } of entries) {
    for (const memory of written ? table.deserialize(written) : []) {
      memories.set(memory.id, memory);
      for (const row of rowIds(memory.id, memory.vectors.length)) gone.delete(row);
    }
    for (const id of removed) {
      memories.delete(id);
      gone.add(id);
    }
  }
  const written = [...memories.values()];
  const rows = written.length > 0 ? table.encode(written) : null;
  await table.write(rows, { written, isNew: false, removed: [...gone] });
}
