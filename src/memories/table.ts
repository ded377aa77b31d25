import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { AppError } from "../errors.ts";
import { type Filter, filterSql, idsSql, listSql, type Position } from "./filter.ts";
import {
  CANDIDATE_COLUMNS,
  type Candidate,
  decodeCandidates,
  decodeIds,
  decodeMemories,
  decodeVectors,
  encodeRows,
  MEMORY_COLUMNS,
  type MemoryRow,
  rowIds,
  type StoredMemory,
  tableSchema,
} from "./rows.ts";

/** The memories of one account. Reads may run at any time, writes one at a time. */
export interface MemoryTable {
  /** Memories by id, in no order; those that aren't there are left out. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** The same with their vectors, as a write needs them. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  /** Ids of memories, newest first, after a position of that order. */
  list(filter: Filter, after: Position | null, limit: number): Promise<string[]>;
  /** The `limit` rows whose vectors are nearest to a vector. */
  nearest(vector: Float32Array, filter: Filter, limit: number): Promise<Candidate[]>;
  /** The `limit` memories whose words match best, with their vectors when asked. */
  matching(
    words: string,
    filter: Filter,
    limit: number,
    withVectors: boolean,
  ): Promise<Candidate[]>;
  /** Adds memories whose ids are new, in one commit. */
  add(memories: readonly StoredMemory[]): Promise<void>;
  /** Adds or replaces memories by id, in one commit. Leaves passages that a memory no longer has. */
  upsert(memories: readonly StoredMemory[]): Promise<void>;
  /** Removes rows (see `rowIds`), in one commit. */
  removeRows(ids: readonly string[]): Promise<void>;
  /** Removes all memories that a filter lets pass, in one commit, and returns how many they were. */
  removeMatching(filter: Filter): Promise<number>;
}

const NEWEST_FIRST = ["created_at", "id"].map((columnName) => ({
  columnName,
  ascending: false,
  nullsFirst: false,
}));

/**
 * Opens an account's table, and makes it when it isn't there.
 * @throws AppError `unavailable` when the table holds vectors of another model
 */
export async function openTable(
  lancedb: typeof LanceDb,
  connection: LanceDb.Connection,
  name: string,
  model: EmbeddingModel,
): Promise<MemoryTable> {
  const schema = tableSchema(model);
  const table = await connection.createEmptyTable(name, schema, { existOk: true });
  const madeWith = (await table.schema()).metadata.get("ctxd.model");
  if (madeWith !== model.id) {
    throw new AppError("unavailable", "This account's vectors were made by another model.", {
      cause: new Error(`table ${name} was made with ${madeWith}, not ${model.id}`),
    });
  }
  await createIndexes(lancedb, table);

  const find = async (ids: readonly string[]) =>
    ids.length === 0
      ? []
      : decodeMemories(
          await table
            .query()
            .where(idsSql(ids))
            .select([...MEMORY_COLUMNS])
            .toArrow(),
        );

  return {
    find,

    async load(ids) {
      const rows = await find(ids);
      if (rows.length === 0) return [];
      const wanted = rows.flatMap(({ id, passages }) => rowIds(id, passages));
      const vectors = decodeVectors(
        await table.query().where(idsSql(wanted)).select(["id", "vector"]).toArrow(),
      );
      return rows.map(({ passages, ...memory }) => ({
        ...memory,
        vectors: rowIds(memory.id, passages).map((id) => {
          const vector = vectors.get(id);
          if (!vector) throw new Error(`the row ${id} is missing`);
          return vector;
        }),
      }));
    },

    async list(filter, after, limit) {
      const query = table.query().where(listSql(filter, after)).orderBy(NEWEST_FIRST);
      return decodeIds(await query.select(["id", "created_at"]).limit(limit).toArrow());
    },

    async nearest(vector, filter, limit) {
      const query = narrow(table.query().nearestTo(vector).distanceType("dot"), filter);
      const columns = [...CANDIDATE_COLUMNS, "_distance"];
      return decodeCandidates(await query.select(columns).limit(limit).toArrow());
    },

    async matching(words, filter, limit, withVectors) {
      const match = new lancedb.MatchQuery(words, "content");
      const columns = [...CANDIDATE_COLUMNS, "_score", ...(withVectors ? ["vector"] : [])];
      const query = narrow(table.query().fullTextSearch(match), filter);
      return decodeCandidates(await query.select(columns).limit(limit).toArrow());
    },

    async add(memories) {
      await table.add(encodeRows(memories, schema));
    },

    async upsert(memories) {
      await table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(encodeRows(memories, schema));
    },

    async removeRows(ids) {
      await table.delete(idsSql(ids));
    },

    async removeMatching(filter) {
      const condition = filterSql(filter);
      if (condition === undefined) throw new RangeError("a filter that lets everything pass");
      const count = await table.countRows(listSql(filter, null));
      if (count > 0) await table.delete(condition);
      return count;
    },
  };
}

/** Narrows a query before it searches, so that a limit counts only what passes the filter. */
function narrow<Query extends { where(sql: string): Query }>(query: Query, filter: Filter): Query {
  const sql = filterSql(filter);
  return sql === undefined ? query : query.where(sql);
}

/** Makes the indexes that are missing: a process may have ended between making table and index. */
async function createIndexes({ Index }: typeof LanceDb, table: LanceDb.Table) {
  const existing = new Set((await table.listIndices()).flatMap((index) => index.columns));
  const wanted = {
    id: Index.btree(),
    created_at: Index.btree(),
    tags: Index.labelList(),
    agent_id: Index.bitmap(),
    // Positions would serve phrases, which no search asks for, at a third more disk.
    content: Index.fts({ withPosition: false }),
  };
  for (const [column, config] of Object.entries(wanted)) {
    if (!existing.has(column)) await table.createIndex(column, { config });
  }
}
