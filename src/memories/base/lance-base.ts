import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Filter } from "../filter.ts";
import { mayBeNear, nearestIn, partsOf } from "../indexes/near-words.ts";
import type { Checkpoint } from "../log/log.ts";
import type { Base } from "./base.ts";
import {
  createAssembly,
  decodeExpiring,
  decodeMemories,
  decodePositions,
  decodeStates,
  decodeWords,
} from "./decode.ts";
import {
  EXPIRING_SQL,
  filterSql,
  idsSql,
  lettersSql,
  listSql,
  sessionsSql,
  valueSql,
} from "./filter-sql.ts";
import { assemble, firstOf, idsOf, load, rowsOf } from "./lance-queries.ts";
import { baseSchema, recordedModel } from "./schema.ts";

/** A base with what writing needs. */
export interface LanceBase extends Base {
  /** At the version of the checkpoint, whatever was written since. */
  readonly table: LanceDb.Table;
  /** Of its own. */
  readonly connection: LanceDb.Connection;
  /** Has it read another version from now on; reads under way go on with theirs. */
  moveTo(checkpoint: Checkpoint): Promise<void>;
}

/** Columns that a `MemoryRow` does not need. */
const NOT_OF_ROWS = ["words", "passage", "passages", "states", "vector"];
/** Words that are looked at for one that no memory has, and memories of each. */
const LIKE_IT = 50;
const OF_EACH = 20;
/** Memories that are read of sessions: about 1 MB. */
const OF_SESSIONS = 512;

/**
 * How the index of vectors (IVF_FLAT) is laid out. Measured with 100,000 memories against comparing
 * all: 64 parts of which 20 are searched find 99.5 % of the ten nearest, in two thirds of the time
 * of the library's own 26 parts; finer parts build slowly and find less.
 */
const ROWS_OF_A_PART = 1_600;
const LEAST_SEARCHED = 20;
const SHARE_SEARCHED = 0.3;

/** Parts of an index of vectors over so many rows. */
export function partitionsFor(rows: number): number {
  return Math.max(1, Math.round(rows / ROWS_OF_A_PART));
}

const byAge = (ascending: boolean) =>
  ["created_at", "id"].map((columnName) => ({ columnName, ascending, nullsFirst: false }));
const NEWEST_FIRST = byAge(false);
const OLDEST_FIRST = byAge(true);
const SOONEST_FIRST = { columnName: "expires_at", ascending: true, nullsFirst: false };

/**
 * @param close closes the connection, with the base
 * @param wanted the model in use; see `recordedModel`
 */
export async function openLanceBase(
  lancedb: Pick<typeof LanceDb, "MatchQuery">,
  { connection, close }: { connection: LanceDb.Connection; close: () => void },
  checkpoint: Checkpoint,
  wanted?: EmbeddingModel,
): Promise<LanceBase> {
  const table = await connection.openTable(checkpoint.base);
  let facts = await checkOut(table, checkpoint);
  const schema = await table.schema();
  const model = recordedModel(schema, wanted);
  const names = schema.names.map(String);
  const rowColumns = names.filter((name) => !NOT_OF_ROWS.includes(name));
  const storedColumns = names.filter((name) => name !== "words");
  // Earlier versions had the library find the words in the content.
  const has = (name: string) => names.includes(name);
  const indexed = has("words") ? "words" : "content";
  const matching = (words: string, filter: Filter, options: MatchOptions = {}) => {
    const query = table.query().fullTextSearch(new lancedb.MatchQuery(words, indexed, options));
    return narrow(query, filterSql(filter, has));
  };

  /** Whether any row of the version has a value in a column. */
  const isUsed = (name: "superseded_by" | "expires_at"): Promise<boolean> => {
    if (!has(name)) return Promise.resolve(false);
    const { used } = facts;
    const known = used.get(name) ?? table.countRows(valueSql(name)).then((rows) => rows > 0);
    used.set(name, known);
    known.catch(() => used.delete(name));
    return known;
  };

  /** A filter without what all rows pass: to ask each of them takes as long as a search. */
  const narrowing = async ({ isCurrent, aliveAt, ...filter }: Filter): Promise<Filter> => ({
    ...filter,
    ...(isCurrent && (await isUsed("superseded_by")) && { isCurrent }),
    ...(aliveAt !== undefined && (await isUsed("expires_at")) && { aliveAt }),
  });

  return {
    table,
    connection,
    model,
    isUpToDate: baseSchema(model).names.map(String).every(has),
    get checkpoint() {
      return facts.checkpoint;
    },
    get rows() {
      return facts.rows;
    },
    get isIndexed() {
      return facts.isIndexed;
    },

    async moveTo(checkpoint) {
      facts = await checkOut(table, checkpoint);
    },

    async find(ids) {
      if (ids.length === 0) return [];
      return decodeMemories(await table.query().where(idsSql(ids)).select(rowColumns).toArrow());
    },

    load: (ids) => load(table, ids, storedColumns),

    async states(ids) {
      if (ids.length === 0 || !has("states")) return new Map();
      return decodeStates(
        await table.query().where(idsSql(ids)).select(["id", "states"]).toArrow(),
      );
    },

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

    async list(filter, { from, limit = facts.rows, except }) {
      const query = table
        .query()
        .where(listSql(await narrowing(filter), from, has))
        .orderBy(from?.isBackward ? OLDEST_FIRST : NEWEST_FIRST);
      const columns = query.select(["id", "created_at"]);
      const found = await firstOf(columns, { limit, except, decode: decodePositions });
      return from?.isBackward ? found.reverse() : found;
    },

    async expiring(limit, except) {
      if (!has("expires_at")) return [];
      const query = table.query().where(EXPIRING_SQL).orderBy(SOONEST_FIRST);
      const columns = query.select(["id", "expires_at"]);
      return await firstOf(columns, { limit, except, decode: decodeExpiring });
    },

    async search({ vector, words, filter: wanted, limit, least = 0, except }) {
      const filter = await narrowing(wanted);
      const near = vector && nearest(table, facts.rows, vector, filterSql(filter, has));
      const isMatched = words.length > 0 && facts.isIndexed;
      const matched = isMatched ? matching(words.join(" "), filter) : null;
      const found = await Promise.all([
        // Without the scores the library warns at every search.
        near ? idsOf(near.select(["id", "_distance"]), limit, except, least) : [],
        matched ? idsOf(matched.select(["id", "_score"]), limit, except) : [],
      ]);
      return await load(table, [...new Set(found.flat())], storedColumns);
    },

    async ofSessions(sessions, filter, except) {
      if (sessions.length === 0) return [];
      const left = new Set(except);
      const query = table
        .query()
        .where(sessionsSql(sessions, await narrowing(filter), has))
        .select(storedColumns);
      const rows = await query.limit(OF_SESSIONS + left.size).toArrow();
      const found = await assemble(rows, (ids) => rowsOf(table, ids, storedColumns));
      return found.filter(({ id }) => !left.has(id)).slice(0, OF_SESSIONS);
    },

    async countTexts(words, filter = {}) {
      const count = async (word: string): Promise<[string, number]> => {
        if (!facts.isIndexed) return [word, 0];
        const query = matching(word, filter).select(["_score"]).limit(facts.rows);
        return [word, (await query.toArrow()).numRows];
      };
      return new Map(await Promise.all(words.map(count)));
    },

    count: (filter) => table.countRows(listSql(filter, null, has)),

    async nearWords(word) {
      if (!facts.isIndexed || indexed !== "words" || !mayBeNear(word)) return new Map();
      const misspelt = matching(
        word,
        {},
        { fuzziness: 2, prefixLength: 1, maxExpansions: LIKE_IT },
      );
      const parts = matching(partsOf(word).join(" "), {});
      const wholes = table.query().where(lettersSql(word)).select(["words"]);
      // Without the scores the library warns at every search.
      const matched = [misspelt, parts].map((query) => query.select(["words", "_score"]));
      const found = await Promise.all(
        [...matched, wholes].map((query) => query.limit(LIKE_IT * OF_EACH).toArrow()),
      );
      return await nearestIn(found.flatMap(decodeWords), word);
    },

    close() {
      try {
        table.close();
      } catch {
        // Somebody is reading its numbers: then the garbage collector closes it.
      }
      close();
    },
  };
}

type MatchOptions = ConstructorParameters<typeof LanceDb.MatchQuery>[2];

/** Makes a version the one that a table reads, and tells what it has. */
async function checkOut(table: LanceDb.Table, checkpoint: Checkpoint) {
  await table.checkout(checkpoint.version);
  const indexed = (await table.listIndices()).flatMap(({ columns }) => columns);
  return {
    checkpoint,
    /** Columns, and whether any row has a value there, as far as that was asked. */
    used: new Map<string, Promise<boolean>>(),
    rows: await table.countRows(),
    isIndexed:
      indexed.includes("id") && ["words", "content"].some((each) => indexed.includes(each)),
  };
}

function nearest(
  table: LanceDb.Table,
  rows: number,
  vector: Float32Array,
  sql: string | undefined,
) {
  const parts = Math.ceil(partitionsFor(rows) * SHARE_SEARCHED);
  const query = table.query().nearestTo(vector).distanceType("dot");
  return narrow(query.nprobes(Math.max(LEAST_SEARCHED, parts)), sql);
}

/** Narrows a query before it searches, so that a limit counts only what passes the filter. */
function narrow<Narrowed extends { where(sql: string): Narrowed }>(
  query: Narrowed,
  sql: string | undefined,
): Narrowed {
  return sql === undefined ? query : query.where(sql);
}
