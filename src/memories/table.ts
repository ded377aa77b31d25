import type * as LanceDb from "@lancedb/lancedb";
import { type Table as ArrowTable, tableFromIPC, tableToIPC } from "apache-arrow";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import {
  decodeFacts,
  decodeIds,
  decodeMemories,
  decodeStored,
  FACT_COLUMNS,
  MEMORY_COLUMNS,
} from "./decode-rows.ts";
import type { Outcome } from "./draft.ts";
import { encodeRows } from "./encode-rows.ts";
import { type Filter, filterSql, idsSql, listSql, type Position } from "./filter.ts";
import { BYTES_SQL, type Usage } from "./quota.ts";
import type { FormerRows, RowCache } from "./row-cache.ts";
import { createRowReader, type RunQuery } from "./row-reader.ts";
import {
  type MemoryFacts,
  type MemoryRow,
  rowIds,
  type StoredMemory,
  searchRowsOf,
} from "./rows.ts";
import { createIndexes } from "./table-indexes.ts";
import { recordedModel, tableSchema } from "./table-schema.ts";
import { createTableSearch, type TableSearch } from "./table-search.ts";
import { createTableUpkeep, type TableUpkeep } from "./table-upkeep.ts";

/** The memories of one account. Reads may run at any time, writes one at a time. */
export interface MemoryTable extends TableSearch {
  /** What made its vectors, as the table itself says. */
  readonly model: EmbeddingModel;
  /** Memories by id, in no order; those that aren't there are left out. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** The same with their vectors, as a write needs them. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  /** Ids of memories, newest first, after a position of that order; all of them without a limit. */
  list(filter: Filter, after: Position | null, limit?: number): Promise<string[]>;
  countRows(): Promise<number>;
  /** What statistics read, of every memory. */
  facts(): Promise<Iterable<MemoryFacts>>;
  /** How many memories there are, and how long their texts. */
  usage(): Promise<Usage>;
  /** All memories, as they are at one moment. */
  scan(): AsyncGenerator<MemoryRow[]>;
  /** Ids of all rows (see `rowIds`) that a filter with a condition lets pass. */
  selectRows(filter: Filter): Promise<string[]>;

  encode(memories: readonly StoredMemory[]): ArrowTable;
  serialize(rows: ArrowTable): Uint8Array;
  deserialize(bytes: Uint8Array): StoredMemory[];
  /** Makes an outcome true. `rows` are its written memories, encoded. */
  write(rows: ArrowTable | null, outcome: Outcome): Promise<void>;

  /** Grows by one with every commit. */
  version(): Promise<number>;
  /** Undoes all commits after a version, for which it makes a new one. */
  restore(version: number): Promise<void>;

  /** The work that keeps it fast and small; see `upkeep.ts`. */
  readonly upkeep: TableUpkeep;
  /** Whether there is room in memory for what searches look for in so many rows. */
  hasRoom(rows: number): boolean;
  /** Whether there was none when a search wanted it. */
  lacksRoom(): boolean;
  /** Lets go of the rows that searches have read. */
  forgetRows(): void;
  /** Gives back the memory that it takes, without waiting for the garbage collector. */
  close(): void;
  /** The rows that searches have read, for a table that takes over. No write may be under way. */
  handOver(): Promise<FormerRows>;
  /** Hands them over and closes it. */
  leave(): Promise<FormerRows>;
}

const NEWEST_FIRST = ["created_at", "id"].map((columnName) => ({
  columnName,
  ascending: false,
  nullsFirst: false,
}));

/**
 * Opens an account's table, and makes it when it isn't there.
 * @param wanted makes the vectors of a new table
 * @param cache rows that searches have read, of all open tables
 * @param former those of the same table when it was closed, which are of use if nothing has changed
 */
export async function openTable(
  lancedb: typeof LanceDb,
  connection: LanceDb.Connection,
  name: string,
  wanted: EmbeddingModel,
  cache: RowCache,
  former: FormerRows | null = null,
): Promise<MemoryTable> {
  const table = await connection
    .createEmptyTable(name, tableSchema(wanted), { existOk: true })
    // Also when it is there with vectors of another model, or by an earlier version of this program.
    .catch(() => connection.openTable(name));
  const model = recordedModel(await table.schema(), wanted);
  const isAsLeft = former !== null && former.version === (await table.version());
  if (!isAsLeft) former?.rows.clear();
  const rows = isAsLeft ? former.rows : cache.open(model.dimension);
  const schema = tableSchema(model);
  await createIndexes(lancedb, table);

  /** Reads under way: their version must not be pruned. */
  const reads = new Set<Promise<unknown>>();
  const register = (reading: Promise<unknown>) => {
    const read = reading.catch(() => {}).finally(() => reads.delete(read));
    reads.add(read);
  };
  const run: RunQuery = (query) => {
    const result = query.toArrow();
    register(result);
    return result;
  };

  /** How many rows there are, counted once after each change: every search asks several times. */
  let counted: Promise<number> | null = null;
  const forgetCount = () => {
    counted = null;
  };
  const forget = () => {
    forgetCount();
    rows.clear();
  };
  const countRows = () => {
    if (counted) return counted;
    counted = table.countRows();
    counted.catch(forgetCount);
    return counted;
  };

  const reader = createRowReader({ table, countRows, run, rows });

  const handOver = async () => ({ rows, version: await table.version() });
  const close = () => {
    try {
      table.close();
    } catch {
      // Somebody is reading its numbers: then the garbage collector closes it.
    }
  };

  /** The version that the handle is held at by a `restore` that failed half way. */
  let detachedAt: number | null = null;

  const find = async (ids: readonly string[]) =>
    ids.length === 0
      ? []
      : decodeMemories(
          await run(
            table
              .query()
              .where(idsSql(ids))
              .select([...MEMORY_COLUMNS]),
          ),
        );

  return {
    model,
    ...createTableSearch(lancedb, {
      table,
      countRows,
      run,
      reader,
    }),
    find,

    async load(ids) {
      const wanted = (await find(ids)).flatMap(({ id, passages }) => rowIds(id, passages));
      return wanted.length > 0 ? decodeStored(await run(table.query().where(idsSql(wanted)))) : [];
    },

    async list(filter, after, limit) {
      const query = table
        .query()
        .where(listSql(filter, after))
        .orderBy(NEWEST_FIRST)
        .select(["id", "created_at"]);
      return decodeIds(await run(limit === undefined ? query : query.limit(limit)));
    },

    countRows,

    facts: async () =>
      decodeFacts(
        await run(
          table
            .query()
            .where(listSql({}, null))
            .select([...FACT_COLUMNS]),
        ),
      ),

    async usage() {
      const found = await run(table.query().where(listSql({}, null)).select({ bytes: BYTES_SQL }));
      const each: Iterable<number | bigint> = found.getChild("bytes") ?? [];
      let sum = 0;
      for (const length of each) sum += Number(length);
      return { memories: found.numRows, bytes: sum };
    },

    async *scan() {
      const reading = Promise.withResolvers<void>();
      register(reading.promise);
      try {
        const query = table.query().where(listSql({}, null));
        for await (const batch of query.select([...MEMORY_COLUMNS])) {
          yield decodeMemories(batch);
        }
      } finally {
        reading.resolve();
      }
    },

    async selectRows(filter) {
      const condition = filterSql(filter);
      if (condition === undefined) throw new RangeError("a filter that lets everything pass");
      return decodeIds(await run(table.query().where(condition).select(["id"])));
    },

    encode: (memories) => encodeRows(memories, schema),
    serialize: (rows) => tableToIPC(rows),
    deserialize: (bytes) => decodeStored(tableFromIPC(bytes)),

    async write(encoded, { written, isNew, removed }) {
      try {
        if (encoded) await (isNew ? table.add(encoded) : upsert(table, encoded));
        if (removed.length > 0) await table.delete(idsSql(removed));
      } finally {
        forgetCount();
      }
      const replaced = isNew
        ? []
        : written.flatMap(({ id, vectors }) => rowIds(id, vectors.length));
      rows.change([...replaced, ...removed], reader.isInUse ? written.flatMap(searchRowsOf) : []);
    },

    version: () => table.version(),

    async restore(version) {
      if (detachedAt !== version) {
        // The handle may not know of a commit that was made and then failed.
        await table.checkoutLatest();
        if ((await table.version()) === version) return;
        // From here on reads see this version, even while there is no space to make it the newest.
        await table.checkout(version);
        detachedAt = version;
        forget();
      }
      await table.restore();
      detachedAt = null;
      forget();
    },

    upkeep: createTableUpkeep(lancedb, table, reads),

    hasRoom: rows.canIndex,
    lacksRoom: () => reader.lacksRoom,
    forgetRows: rows.clear,

    close() {
      rows.clear();
      close();
    },

    handOver,

    async leave() {
      const former = await handOver();
      close();
      return former;
    },
  };
}

async function upsert(table: LanceDb.Table, rows: ArrowTable): Promise<void> {
  await table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows);
}
