import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { AppError } from "../../errors.ts";
import type { Checkpoint } from "../log/records.ts";
import type { Filter, Order } from "../model/filter.ts";
import type { Base } from "./base.ts";
import { type Columns, createAssembly, decodeEach, decodeMemories } from "./decode.ts";
import { EXPIRING_SQL, idsSql, laterSql, listSql, valueSql } from "./filter-sql.ts";
import {
  type CurrentCheck,
  createLanceSearch,
  createRowReader,
  linkColumns,
  readFirst,
  readVersion,
} from "./lance-search.ts";
import { baseSchema, recordedModel } from "./schema.ts";

/** A base, with what writing needs. */
export interface LanceBase extends Base {
  /** At the version of the checkpoint, whatever was written since. */
  readonly table: LanceDb.Table;
  /** The connection of this base alone. */
  readonly connection: LanceDb.Connection;
  /** Switches to another version. Reads that have begun finish with theirs. */
  moveTo(checkpoint: Checkpoint): Promise<void>;
}

/** Columns that a `MemoryRow` does not need. */
const NOT_OF_ROWS = ["words", "passage", "passages", "states", "vector"];

/** The columns by which a list is ordered. */
const ORDERED: Record<Order, readonly string[]> = {
  newest: ["created_at", "id"],
  importance: ["importance", "created_at", "id"],
};
const SOONEST_FIRST = { columnName: "expires_at", ascending: true, nullsFirst: false };

/** Memories that are looked up by one query. */
const LOOKED_UP = 5_000;

/**
 * Returns a function that leaves out the memories that had been superseded at the moment of a filter; null for a filter
 * that SQL decides alone. See `passes`.
 */
function createCurrentCheck(table: LanceDb.Table, has: (column: string) => boolean) {
  return ({ isCurrent, knownAt }: Filter): CurrentCheck => {
    if (!isCurrent || knownAt === undefined || !has("superseded_by")) return null;
    /** Whether the memories with these ids were created later, as far as it was looked up. */
    const isLater = new Map<string, boolean>();
    return async (found) => {
      const newer = new Set(found.flatMap(({ supersededBy }) => supersededBy ?? []));
      const unknown = [...newer].filter((id) => !isLater.has(id));
      for (let start = 0; start < unknown.length; start += LOOKED_UP) {
        const some = unknown.slice(start, start + LOOKED_UP);
        const later = table.query().where(laterSql(some, knownAt)).select(["id"]);
        for (const id of some) isLater.set(id, false);
        for (const id of decodeEach(await later.toArrow(), ({ required }, row) =>
          required("id", row),
        )) {
          isLater.set(id, true);
        }
      }
      return found.filter(
        ({ supersededBy }) => supersededBy === null || isLater.get(supersededBy) === true,
      );
    };
  };
}

/**
 * @param close closes the connection; called when the base is closed
 * @param wanted the model in use; see `recordedModel`
 */
export async function openLanceBase(
  lancedb: Pick<typeof LanceDb, "MatchQuery">,
  { connection, close }: { connection: LanceDb.Connection; close: () => void },
  checkpoint: Checkpoint,
  wanted?: EmbeddingModel,
): Promise<LanceBase> {
  const table = await connection.openTable(checkpoint.base);
  await table.checkout(checkpoint.version);
  const schema = await table.schema();
  const model = recordedModel(schema, wanted);
  const names = schema.names.map(String);
  const has = (name: string) => names.includes(name);
  const rowColumns = names.filter((name) => !NOT_OF_ROWS.includes(name));
  const storedColumns = names.filter((name) => name !== "words");
  const rows = createRowReader(table, storedColumns);
  /** A column of the first rows of some memories, by their ids. */
  const readColumn = async <Value>(
    ids: readonly string[],
    name: "states" | "vector",
    decode: (columns: Columns, row: number) => Value,
  ): Promise<Map<string, Value>> => {
    if (ids.length === 0 || !has(name)) return new Map();
    const found = await table.query().where(idsSql(ids)).select(["id", name]).toArrow();
    return new Map(
      decodeEach(found, (columns, row) => [columns.required("id", row), decode(columns, row)]),
    );
  };
  let version = await readVersion(table, checkpoint, has);
  const currentCheckOf = createCurrentCheck(table, has);
  const search = createLanceSearch(lancedb, table, {
    has,
    storedColumns,
    rows,
    currentCheckOf,
    version: () => version,
  });

  return {
    table,
    connection,
    model,
    isUpToDate: baseSchema(model).names.map(String).every(has),
    get checkpoint() {
      return version.checkpoint;
    },
    get rows() {
      return version.rows;
    },
    get isIndexed() {
      return version.isIndexed;
    },
    ...search,

    async moveTo(checkpoint) {
      await table.checkout(checkpoint.version);
      version = await readVersion(table, checkpoint, has);
    },

    async find(ids) {
      if (ids.length === 0) return [];
      return decodeMemories(await table.query().where(idsSql(ids)).select(rowColumns).toArrow());
    },

    load: rows.load,

    // Copies, since a view would keep the whole batch in memory.
    states: (ids) => readColumn(ids, "states", ({ states }, row) => states(row).slice()),
    firstVectors: (ids) => readColumn(ids, "vector", ({ vector }, row) => vector(row).slice()),

    async *read(withStates = true) {
      const assembly = createAssembly();
      const columns = storedColumns.filter((name) => withStates || name !== "states");
      for await (const batch of table.query().select(columns)) yield assembly.add(batch);
      assembly.end();
    },

    async *scan() {
      for await (const batch of table
        .query()
        .where(listSql({}, null, has))
        .select(rowColumns)) {
        yield decodeMemories(batch);
      }
    },

    async list(filter, { from, limit = version.rows, except, order = "newest" }) {
      const ascending = from?.isBackward === true;
      const simple = await version.simplify(filter);
      const current = currentCheckOf(simple);
      const query = table
        .query()
        .where(listSql(simple, from, has, order))
        .orderBy(
          ORDERED[order].map((columnName) => ({ columnName, ascending, nullsFirst: false })),
        );
      const found = await readFirst(query.select([...ORDERED[order], ...linkColumns(current)]), {
        limit,
        except,
        current,
        decode: ({ required, nullable }, row) => ({
          id: required("id", row),
          supersededBy: nullable("superseded_by", row),
          createdAt: required("created_at", row),
          ...(order === "importance" && { importance: required("importance", row) }),
        }),
      });
      return ascending ? found.reverse() : found;
    },

    async expiring(limit, except) {
      if (!has("expires_at")) return [];
      const query = table.query().where(EXPIRING_SQL).orderBy(SOONEST_FIRST);
      const columns = query.select(["id", "expires_at"]);
      return await readFirst(columns, {
        limit,
        except,
        decode: ({ required }, row) => ({
          id: required("id", row),
          supersededBy: null,
          expiresAt: required("expires_at", row),
        }),
      });
    },

    async count(filter) {
      const current = currentCheckOf(filter);
      const sql = listSql(filter, null, has);
      if (!current) return await table.countRows(sql);
      const linked = `${sql} AND ${valueSql("superseded_by")}`;
      const rows = await table.query().where(linked).select(["superseded_by"]).toArrow();
      const found = decodeEach(rows, ({ nullable }, row) => ({
        supersededBy: nullable("superseded_by", row),
      }));
      const others = await table.countRows(sql);
      return others - found.length + (await current(found)).length;
    },

    close() {
      try {
        table.close();
      } catch {
        // A read is still using the table. The garbage collector closes it later.
      }
      close();
    },
  };
}

/**
 * A base whose local files may be lost while it is open. If a read fails, the files are restored and the read is
 * tried once more.
 * @param restore restores the files; the reader receives its errors
 */
export function createRestoringBase(base: Base, restore: () => Promise<void>): Base {
  const twice =
    <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        return await read(...args);
      } catch {
        await restore();
        return await read(...args);
      }
    };

  const streamTwice = <Args extends unknown[], Batch>(
    read: (...args: Args) => AsyncGenerator<Batch>,
  ) =>
    async function* (...args: Args): AsyncGenerator<Batch> {
      let hasBegun = false;
      try {
        for await (const batch of read(...args)) {
          hasBegun = true;
          yield batch;
        }
        return;
      } catch (cause) {
        await restore();
        // The reader already has some batches, so it must begin again.
        if (hasBegun) {
          const message = "The memories can't be read now. Try again in a moment.";
          throw new AppError("unavailable", message, { cause, retryAfter: 1 });
        }
      }
      yield* read(...args);
    };

  return {
    model: base.model,
    isUpToDate: base.isUpToDate,
    get checkpoint() {
      return base.checkpoint;
    },
    get rows() {
      return base.rows;
    },
    get isIndexed() {
      return base.isIndexed;
    },
    find: twice(base.find),
    load: twice(base.load),
    states: twice(base.states),
    firstVectors: twice(base.firstVectors),
    read: streamTwice(base.read),
    scan: streamTwice(base.scan),
    expiring: twice(base.expiring),
    list: twice(base.list),
    search: twice(base.search),
    ofSessions: twice(base.ofSessions),
    countTexts: twice(base.countTexts),
    count: twice(base.count),
    nearWords: twice(base.nearWords),
    close: base.close,
  };
}
