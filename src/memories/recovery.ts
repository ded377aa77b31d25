import { rename } from "node:fs/promises";
import type { Log } from "../log.ts";
import type { Journal } from "./journal.ts";
import { rowIds, type StoredMemory } from "./rows.ts";
import type { MemoryTable } from "./table.ts";
import { listFiles, removeOtherFiles } from "./table-files.ts";

/**
 * Opens a table as its last checkpoint left it and writes again what the journal has since then.
 * Whatever else a crash left in the folder, whole or torn, was never answered, or is in the journal.
 * @param open opens the table in `folder`, or makes it
 */
export async function recoverTable({
  accountId,
  folder,
  journal,
  open,
  log,
}: {
  accountId: string;
  folder: string;
  journal: Journal;
  open: () => Promise<MemoryTable>;
  log: Log;
}): Promise<MemoryTable> {
  const checkpoint = journal.checkpoint(accountId);
  if (checkpoint) {
    const removed = await removeOtherFiles(folder, checkpoint.files);
    if (removed > 0) log.info("table_rolled_back", { accountId, removed });
  }
  const table = checkpoint ? await open() : await openOrSetAside(folder, open, log);
  const entries = journal.entries(accountId);
  if (entries.length > 0) {
    await replay(table, entries);
    log.info("journal_replayed", { accountId, entries: entries.length });
  }
  return table;
}

/** A table that no checkpoint knows was being made: when it is torn, it makes room for a new one. */
async function openOrSetAside(
  folder: string,
  open: () => Promise<MemoryTable>,
  log: Log,
): Promise<MemoryTable> {
  try {
    return await open();
  } catch (error) {
    if ((await listFiles(folder)).length === 0) throw error;
    const aside = `${folder}.damaged-${Date.now()}`;
    await rename(folder, aside);
    log.error("table_set_aside", { folder: aside, cause: String(error) });
    return open();
  }
}

/** Writes journal entries again: of each row what the newest says. Doing it twice does no harm. */
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
