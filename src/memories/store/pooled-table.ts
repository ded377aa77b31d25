import type { Embedders } from "../../embedding/chosen-model.ts";
import type { Embedder } from "../../embedding/embedder.ts";
import type { ComparisonState, Likeness } from "../log/likenesses/likenesses.ts";
import type { Outcome } from "../log/pending.ts";
import type { QuotaOf } from "../model/quota.ts";
import { openTable } from "../table/open-table.ts";
import { createReplay } from "../table/replay.ts";
import type { Storage } from "../table/storage.ts";
import type { KeptTable, MemoryTable, ViewMemory } from "../table/table.ts";
import { createWriter, type Writer } from "../table/writer.ts";
import { createFlush, type Flush } from "../upkeep/flush.ts";
import type { UpkeepLimits } from "../upkeep/flush-state.ts";

/** What comparing has found in a table; null if the table does not fit in memory. */
interface TableLikenesses {
  all(): Promise<Likeness[] | null>;
  state(): Promise<ComparisonState | null>;
}

/** An open table, as requests use it. */
export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
  /** The embedder of the model that made the table's vectors. */
  embedder: Embedder;
  likenesses: TableLikenesses;
  /** Whether deleted data may still be in the files; null where other servers have files of their own, which this one can't see. */
  hasRemains(): boolean | null;
}

/** An open table with its upkeep. */
export interface PooledTable extends OpenTable {
  table: KeptTable;
  flush: Flush;
  /** Settles when the task that ends the table's writes has ended; null while there is none. */
  ending: Promise<unknown> | null;
  /** The running chore, or the last one. */
  chore: Promise<void>;
}

/** How tables are opened. */
export interface TableOpening {
  storage: Storage;
  embedders: Embedders;
  due: UpkeepLimits;
  /** The quota of a table; null without one. */
  quotaOf: QuotaOf;
  /** Receives each commit; `isOwn` unless another process has made it. */
  onChange: (table: MemoryTable, outcome: Outcome, isOwn: boolean) => void;
  /** Called right before a table is used. @throws when it must not be, WriterEnded when it was replaced */
  checkUse?: (name: string) => void;
}

/** Opens a table with its writer and its flush. */
export async function openPooledTable(
  name: string,
  { storage, embedders, due, quotaOf, onChange }: TableOpening,
  viewMemory: ViewMemory,
): Promise<PooledTable> {
  const { log, codec } = storage;
  const table = await openTable(name, {
    storage,
    wanted: embedders.wanted.model,
    largeRows: due.largeRows,
    viewMemory,
  });
  const onReplay = (outcome: Outcome) => onChange(table, outcome, false);
  const replay = log.shared && createReplay({ table, log: log.shared, codec, onReplay });
  const writer = createWriter({
    table,
    log,
    replay,
    quotaOf: () => quotaOf(name),
    onCommit: (outcome) => onChange(table, outcome, true),
  });
  const embedder = embedders.of(table.model);
  const flush = createFlush({ table, ...storage, due, relate: embedder.relate });
  const likenesses: TableLikenesses = {
    all: async () => (table.fitsInMemory() ? await log.likenesses.all(name) : null),
    state: async () => (table.fitsInMemory() ? await log.likenesses.state(name) : null),
  };
  const hasRemains = () => (log.shared ? null : flush.remainsSince() !== null);
  const chore = Promise.resolve();
  return { table, writer, embedder, likenesses, hasRemains, flush, ending: null, chore };
}

/** Ends a table's writes and waits for its chore. If the task fails, the table takes writes again. */
export async function endWrites(open: PooledTable, task: () => Promise<void>): Promise<void> {
  const ending = open.writer.end(task);
  open.ending = ending.then(() => open.chore).catch(() => {});
  try {
    await ending;
    await open.chore.catch(() => {});
  } catch (error) {
    open.ending = null;
    throw error;
  }
}
