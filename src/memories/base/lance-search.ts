import type * as LanceDb from "@lancedb/lancedb";
import type { Table } from "apache-arrow";
import { mayBeNear, nearestIn, partsOf } from "../indexes/near-words.ts";
import type { Checkpoint } from "../log/records.ts";
import type { Filter } from "../model/filter.ts";
import type { StoredMemory } from "../model/rows.ts";
import type { Base } from "./base.ts";
import { type Columns, createAssembly, decodeEach } from "./decode.ts";
import {
  filterSql,
  type HasColumn,
  idsSql,
  lettersSql,
  sessionsSql,
  valueSql,
} from "./filter-sql.ts";
import { memoryIdOf } from "./schema.ts";

/** Columns in which most bases have no value. */
type RareColumn = "superseded_by" | "expires_at";

type LanceVersion = Awaited<ReturnType<typeof readVersion>>;

/**
 * The version of a LanceDB table that is read. LanceDB never changes it.
 * @param table has checked out the checkpoint's version
 * @param has whether the table has a column
 */
export async function readVersion(
  table: LanceDb.Table,
  checkpoint: Checkpoint,
  has: (column: string) => boolean,
) {
  const indexed = (await table.listIndices()).flatMap(({ columns }) => columns);
  /** Whether any row has a value in a column, as far as a search needed to know. */
  const used = new Map<RareColumn, Promise<boolean>>();

  const isUsed = (column: RareColumn): Promise<boolean> => {
    if (!has(column)) return Promise.resolve(false);
    const known = used.get(column) ?? table.countRows(valueSql(column)).then((rows) => rows > 0);
    used.set(column, known);
    known.catch(() => used.delete(column));
    return known;
  };

  return {
    checkpoint,
    rows: await table.countRows(),
    /** Whether it has the indexes that a search needs. */
    isIndexed:
      indexed.includes("id") && ["words", "content"].some((each) => indexed.includes(each)),

    /**
     * A filter without the conditions that all rows meet. LanceDB checks each condition for each row, which takes
     * as long as a search.
     */
    simplify: async ({ isCurrent, aliveAt, ...filter }: Filter): Promise<Filter> => ({
      ...filter,
      ...(isCurrent && (await isUsed("superseded_by")) && { isCurrent }),
      ...(aliveAt !== undefined && (await isUsed("expires_at")) && { aliveAt }),
    }),
  };
}

/** A memory with what superseded it. */
interface Linked {
  id: string;
  supersededBy: string | null;
}

/** Leaves out memories that had been superseded at a moment; null where SQL decides alone. */
export type CurrentCheck =
  | (<Found extends Pick<Linked, "supersededBy">>(found: readonly Found[]) => Promise<Found[]>)
  | null;

/** The column that this reads, if it is needed. */
export function linkColumns(current: CurrentCheck): string[] {
  return current ? ["superseded_by"] : [];
}

/** Reads memories with their vectors. @param columns those that a stored memory needs */
export function createRowReader(table: LanceDb.Table, columns: string[]) {
  const read = (ids: readonly string[]): Promise<Table> =>
    table.query().where(idsSql(ids)).select(columns).toArrow();

  /** Memories whose first rows are given. Those of several rows need a second query. */
  const assemble = async (first: Table): Promise<StoredMemory[]> => {
    const assembly = createAssembly();
    const memories = assembly.add(first);
    const further = assembly.missing();
    if (further.length > 0) memories.push(...assembly.add(await read(further)));
    assembly.end();
    return memories.map((memory) => ({
      ...memory,
      // Copies, since a view would keep the whole batch in memory.
      vectors: memory.vectors.map((vector) => vector.slice()),
      states: memory.states.slice(),
    }));
  };

  return {
    assemble,
    load: async (ids: readonly string[]): Promise<StoredMemory[]> =>
      ids.length === 0 ? [] : await assemble(await read(ids)),
  };
}

/** The ids of memories whose rows a query finds first, in the same order. */
async function idsOf(
  query: LanceDb.Query | LanceDb.VectorQuery,
  options: Pick<FirstOptions<Linked>, "limit" | "least" | "except" | "current">,
): Promise<string[]> {
  const decode = ({ required, nullable }: Columns, row: number) => ({
    id: memoryIdOf(required("id", row)),
    supersededBy: nullable("superseded_by", row),
  });
  return (await readFirst(query, { ...options, decode })).map(({ id }) => id);
}

interface FirstOptions<Found> {
  limit: number;
  /** How many different memories are found at least, if there are enough. */
  least?: number;
  except: readonly string[];
  current?: CurrentCheck;
  decode: (columns: Columns, row: number) => Found;
}

/**
 * The first rows that a query finds, without those to exclude. The query reads more rows than the limit, and
 * reads again with a larger limit if too few are left.
 */
export async function readFirst<Found extends Linked>(
  query: LanceDb.Query | LanceDb.VectorQuery,
  { limit, least = 0, except, current = null, decode }: FirstOptions<Found>,
): Promise<Found[]> {
  const excluded = new Set(except);
  // Many versions of one fact match alike, and all but one of them are left out.
  const more = current ? 4 : 2;
  for (let most = Math.max(1, limit + excluded.size); ; most *= more) {
    const found = decodeEach(await query.limit(most).toArrow(), decode);
    const others = found.filter(({ id }) => !excluded.has(id));
    const kept = current ? await current(others) : others;
    const seen = new Set<string>();
    const end = kept.findIndex(({ id }, index) => seen.add(id).size >= least && index + 1 >= limit);
    // Excluded memories and others may have several rows, so there may be fewer than expected.
    if (end >= 0) return kept.slice(0, end + 1);
    if (found.length < most) return kept;
  }
}

/** Similar words that are read for one that no memory has, and memories that are read for each of them. */
const SIMILAR_WORDS = 50;
const MEMORIES_PER_WORD = 20;
/** Memories of sessions that a search reads: about 1 MB. */
const SESSION_MEMORIES = 512;

/**
 * How the index of vectors (IVF_FLAT) is divided. Measured with 100,000 memories against comparing all: 64
 * partitions, of which 20 are searched, find 99.5 % of the ten nearest in two thirds of the time that
 * LanceDB's own 26 partitions take. Smaller partitions take long to build and find less.
 */
const ROWS_PER_PARTITION = 1_600;
const LEAST_SEARCHED = 20;
const SHARE_SEARCHED = 0.3;

/** How many partitions an index of the vectors of some rows has. */
export function partitionsFor(rows: number): number {
  return Math.max(1, Math.round(rows / ROWS_PER_PARTITION));
}

type Searches = Pick<Base, "search" | "ofSessions" | "countTexts" | "nearWords">;
type MatchOptions = ConstructorParameters<typeof LanceDb.MatchQuery>[2];

/**
 * The searches of a base.
 * @param storedColumns columns that a stored memory needs, which `rows` reads
 * @param version the version that is read at present
 */
export function createLanceSearch(
  { MatchQuery }: Pick<typeof LanceDb, "MatchQuery">,
  table: LanceDb.Table,
  {
    has,
    storedColumns,
    rows: { load, assemble },
    currentCheckOf,
    version,
  }: {
    has: HasColumn;
    storedColumns: string[];
    rows: ReturnType<typeof createRowReader>;
    currentCheckOf: (filter: Filter) => CurrentCheck;
    version: () => LanceVersion;
  },
): Searches {
  // In bases of earlier versions, LanceDB finds the words in the content.
  const wordColumn = has("words") ? "words" : "content";
  const matching = (words: string, filter: Filter, options: MatchOptions = {}) => {
    const query = table.query().fullTextSearch(new MatchQuery(words, wordColumn, options));
    return narrow(query, filterSql(filter, has));
  };

  return {
    async search({ vector, words, filter: wanted, limit, least = 0, except }) {
      const { rows, isIndexed, simplify } = version();
      const filter = await simplify(wanted);
      const current = currentCheckOf(filter);
      const columns = ["id", ...linkColumns(current)];
      const options = { limit, except, current };
      const near = vector && nearest(table, rows, vector, filterSql(filter, has));
      const matched = words.length > 0 && isIndexed ? matching(words.join(" "), filter) : null;
      const found = await Promise.all([
        // Without the scores LanceDB logs a warning at every search.
        near ? idsOf(near.select([...columns, "_distance"]), { ...options, least }) : [],
        matched ? idsOf(matched.select([...columns, "_score"]), options) : [],
      ]);
      return await load([...new Set(found.flat())]);
    },

    async ofSessions(sessions, filter, except) {
      if (sessions.length === 0) return [];
      const excluded = new Set(except);
      const simple = await version().simplify(filter);
      const query = table
        .query()
        .where(sessionsSql(sessions, simple, has))
        .select(storedColumns);
      const rows = await query.limit(SESSION_MEMORIES + excluded.size).toArrow();
      const found = (await assemble(rows)).filter(({ id }) => !excluded.has(id));
      const current = currentCheckOf(simple);
      return (current ? await current(found) : found).slice(0, SESSION_MEMORIES);
    },

    async countTexts(words, filter = {}) {
      const { rows, isIndexed } = version();
      const count = async (word: string): Promise<[string, number]> => {
        if (!isIndexed) return [word, 0];
        const query = matching(word, filter).select(["_score"]).limit(rows);
        return [word, (await query.toArrow()).numRows];
      };
      return new Map(await Promise.all(words.map(count)));
    },

    async nearWords(word) {
      if (!version().isIndexed || wordColumn !== "words" || !mayBeNear(word)) return new Map();
      const fuzzy = { fuzziness: 2, prefixLength: 1, maxExpansions: SIMILAR_WORDS };
      const misspelt = matching(word, {}, fuzzy);
      const parts = matching(partsOf(word).join(" "), {});
      const wholes = table.query().where(lettersSql(word)).select(["words"]);
      // Without the scores LanceDB logs a warning at every search.
      const matched = [misspelt, parts].map((query) => query.select(["words", "_score"]));
      const found = await Promise.all(
        [...matched, wholes].map((query) =>
          query.limit(SIMILAR_WORDS * MEMORIES_PER_WORD).toArrow(),
        ),
      );
      const texts = found.flatMap((rows) =>
        decodeEach(rows, ({ nullable }, row) => nullable("words", row) ?? ""),
      );
      return await nearestIn(texts, word);
    },
  };
}

function nearest(
  table: LanceDb.Table,
  rows: number,
  vector: Float32Array,
  sql: string | undefined,
) {
  const share = Math.ceil(partitionsFor(rows) * SHARE_SEARCHED);
  const query = table.query().nearestTo(vector).distanceType("dot");
  return narrow(query.nprobes(Math.max(LEAST_SEARCHED, share)), sql);
}

/** Filters before the search, so that a limit counts only rows that pass the filter. */
function narrow<Narrowed extends { where(sql: string): Narrowed }>(
  query: Narrowed,
  sql: string | undefined,
): Narrowed {
  return sql === undefined ? query : query.where(sql);
}
