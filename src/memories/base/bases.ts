import { randomBytes } from "node:crypto";
import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../timing/pause.ts";
import { MAX_TOKEN_BYTES } from "../indexes/tokens.ts";
import type { Checkpoint } from "../log/records.ts";
import { LIMITS } from "../model/memory.ts";
import type { StoredMemory } from "../model/rows.ts";
import { type Base, type Bases, LARGE_ROWS } from "./base.ts";
import { connectTo } from "./connection.ts";
import { decodeEach } from "./decode.ts";
import { exceptSql } from "./filter-sql.ts";
import { createRestoringBase, type LanceBase, openLanceBase } from "./lance-base.ts";
import { partitionsFor } from "./lance-search.ts";
import { adoptRows, baseSchema, encodeRows, memoryIdOf, missingWords } from "./schema.ts";
import type { Vault } from "./vault.ts";

import Arrow = require("apache-arrow");

/** Largest size in bytes of LanceDB's caches for one base. LanceDB's defaults are 6 GiB and 1 GiB. */
const INDEX_CACHE_BYTES = 64n << 20n;
const METADATA_CACHE_BYTES = 8n << 20n;
/**
 * Bytes of rows in one commit of LanceDB, which makes one fragment. The main thread copies them twice, which
 * takes about 5 ms, and the copies wait for the garbage collector: with twice as many bytes, a rewrite of
 * 100,000 memories takes 250 MB of memory instead of 150.
 */
const COMMIT_BYTES = 4 << 20;
/** Memories that are encoded in one batch, and characters of their texts, tags and metadata: about 10 ms. */
const BATCH_MEMORIES = 256;
const BATCH_CHARACTERS = 100_000;
/** Changed memories that LanceDB itself excludes at most. Its work grows with their number. */
const MAX_EXCLUDED_BY_LANCE = 2_000;
/** Rows that one call reads by their addresses. */
const ADDRESSES_PER_READ = 4_096;

/** Called after each step of a flush: tests stop the process there. It may throw. */
export type OnStep = (step: string) => void | Promise<void>;

/**
 * @param folder holds a folder `NAME.lance` for each base
 * @param wanted the model in use, for bases that record only the name of their model
 * @param restore restores lost local files of a base; without it, local files are never lost
 */
export function createBases({
  lancedb,
  folder,
  vault,
  wanted,
  restore,
  step = () => {},
}: {
  lancedb: typeof LanceDb;
  folder: string;
  vault: Vault;
  wanted?: EmbeddingModel | undefined;
  restore?: ((checkpoint: Checkpoint) => Promise<void>) | undefined;
  step?: OnStep;
}): Bases {
  const opened = new WeakMap<Base, LanceBase>();
  const lanceOf = (base: Base): LanceBase => {
    const lance = opened.get(base);
    if (!lance) throw new Error("this base was not opened here");
    return lance;
  };
  // One connection for each base: LanceDB frees the memory of a table (about 80 kB) only with its connection.
  const connect = () =>
    connectTo(lancedb, folder, new lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES));

  /** Makes the files of a base durable that was just written. */
  const keep = async (table: LanceDb.Table, upTo: number, done: string): Promise<Checkpoint> => {
    const base = table.name;
    const files = await vault.needed(base);
    await vault.keep(base, files);
    await requireFragments(table, files);
    await step(done);
    return { base, version: await table.version(), files, upTo };
  };

  /** Writes a new version of a base. Meanwhile, reads use the version of its checkpoint. */
  const change = async (
    base: Base,
    upTo: number,
    task: (table: LanceDb.Table) => Promise<void>,
    [made, kept]: readonly [string, string],
  ): Promise<Checkpoint> => {
    const { base: name, version } = base.checkpoint;
    const table = await lanceOf(base).connection.openTable(name);
    try {
      if ((await table.version()) !== version) {
        throw new Error(`${name} is ahead of its checkpoint`);
      }
      await task(table);
      await step(made);
      const checkpoint = await keep(table, upTo, kept);
      await lanceOf(base).moveTo(checkpoint);
      return checkpoint;
    } finally {
      table.close();
    }
  };

  return {
    async open(checkpoint) {
      const release = vault.hold(checkpoint.base);
      const connection = await connect();
      const close = () => {
        connection?.close();
        release();
      };
      try {
        const lance = await openLanceBase(lancedb, { connection, close }, checkpoint, wanted);
        const base = restore ? createRestoringBase(lance, () => restore(lance.checkpoint)) : lance;
        opened.set(base, lance);
        return base;
      } catch (error) {
        close();
        throw error;
      }
    },

    append: (base, added, upTo) =>
      change(
        base,
        upTo,
        async (table) => {
          const rows = encodeAll(added, baseSchema(base.model));
          for await (const part of inCommits(rows)) await table.add(part);
        },
        ["rows added", "added files kept"],
      ),

    async rewrite(table, former, changes, { upTo, model }) {
      if (former && former.model.id !== model.id) throw new Error("vectors of another model");
      const name = `${table}.${randomBytes(4).toString("hex")}`;
      // A base that is being written has no checkpoint yet: without this, it would be removed as an unused one.
      const release = vault.hold(name);
      let connection: LanceDb.Connection | null = null;
      try {
        connection = await connect();
        const schema = baseSchema(model);
        const rows = liveRows(former && lanceOf(former), changes, schema);
        const written = await writeTable(lancedb, connection, { name, schema }, rows);
        await step("base written");
        return await keep(written, upTo, "base kept");
      } catch (error) {
        await vault.forget([name]).catch(() => {});
        // The former base may have been unreadable. Once its files are restored, the next rewrite can read it.
        if (former) await restore?.(former.checkpoint);
        throw error;
      } finally {
        connection?.close();
        release();
      }
    },

    index: (base, withVectors) =>
      change(
        base,
        base.checkpoint.upTo,
        (table) => createIndexes(lancedb, table, withVectors ? base.rows : null),
        ["indexes made", "indexes kept"],
      ),
  };
}

/**
 * Writes a table. A large one gets its index of ids at once: without it, LanceDB reads the ids of all rows to find a
 * few, and changes may not wait until the other indexes are made.
 * @returns the table with all rows; closed with its connection
 */
async function writeTable(
  { Index }: typeof LanceDb,
  connection: LanceDb.Connection,
  { name, schema }: { name: string; schema: Arrow.Schema },
  rows: AsyncIterable<Arrow.RecordBatch>,
): Promise<LanceDb.Table> {
  let table: LanceDb.Table | null = null;
  for await (const part of inCommits(rows)) {
    if (table) await table.add(part);
    else table = await connection.createTable(name, part);
  }
  table ??= await connection.createEmptyTable(name, schema);
  if ((await table.countRows()) > LARGE_ROWS) await indexIds(Index, table);
  return table;
}

/**
 * Requires a manifest, and the files of all fragments. LanceDB writes on when files vanish that it wrote before, and a
 * checkpoint without them would lose memories.
 */
async function requireFragments(table: LanceDb.Table, files: readonly string[]): Promise<void> {
  const { numFragments } = (await table.stats()).fragmentStats;
  const countIn = (folder: string) => files.filter((file) => file.startsWith(folder)).length;
  if (countIn("data/") < numFragments || countIn("_versions/") === 0) {
    throw new Error(`files of ${table.name} vanished while it was written`);
  }
}

/** Groups batches into commits. */
async function* inCommits(rows: AsyncIterable<Arrow.RecordBatch>): AsyncGenerator<Arrow.Table> {
  let pending: Arrow.RecordBatch[] = [];
  let bytes = 0;
  for await (const batch of rows) {
    pending.push(batch);
    bytes += batch.data.byteLength;
    if (bytes < COMMIT_BYTES) continue;
    yield new Arrow.Table(pending);
    [pending, bytes] = [[], 0];
  }
  if (pending.length > 0) yield new Arrow.Table(pending);
}

/** The rows of a base after some changes. */
async function* liveRows(
  former: LanceBase | null,
  changes: ReadonlyMap<string, StoredMemory | null>,
  schema: Arrow.Schema,
) {
  const untouched = former ? rowsExcept(former.table, changes) : [];
  for await (const batch of untouched) yield adoptRows(batch, schema, await missingWords(batch));
  const written = [...changes.values()].filter((memory) => memory !== null);
  yield* encodeAll(written, schema);
}

async function* encodeAll(memories: readonly StoredMemory[], schema: Arrow.Schema) {
  const pause = createPause();
  for (let at = 0; at < memories.length; ) {
    await pause();
    const start = at;
    for (let characters = 0; at < memories.length && at - start < BATCH_MEMORIES; at++) {
      const { content = "", metadata = "", tags = [] } = memories[at] ?? {};
      // A tag costs as much as a long one, however short it is.
      characters += content.length + metadata.length + LIMITS.tag * tags.length;
      if (at > start && characters > BATCH_CHARACTERS) break;
    }
    yield encodeRows(memories.slice(start, at), schema);
  }
}

/** Rows of all memories except these, by their ids, as they are stored. */
async function* rowsExcept(table: LanceDb.Table, excluded: ReadonlyMap<string, unknown>) {
  if (excluded.size <= MAX_EXCLUDED_BY_LANCE) {
    const all = table.query();
    yield* excluded.size > 0 ? all.where(exceptSql([...excluded.keys()])) : all;
    return;
  }
  const addresses: bigint[] = [];
  for await (const batch of table.query().withRowId().select(["id", "_rowid"])) {
    const column: Iterable<bigint> = batch.getChild("_rowid") ?? [];
    const found = decodeEach(batch, ({ required }, row) => required("id", row));
    let row = 0;
    for (const address of column) {
      if (!excluded.has(memoryIdOf(found[row++] ?? ""))) addresses.push(address);
    }
  }
  for (let at = 0; at < addresses.length; at += ADDRESSES_PER_READ) {
    yield* table.takeRowIds(addresses.slice(at, at + ADDRESSES_PER_READ));
  }
}

async function indexIds(Index: typeof LanceDb.Index, table: LanceDb.Table): Promise<void> {
  await table.createIndex("id", { config: Index.btree(), replace: true });
}

/** @param vectors how many vectors to index; `null` makes no index of vectors */
async function createIndexes(
  { Index }: typeof LanceDb,
  table: LanceDb.Table,
  vectors: number | null,
): Promise<void> {
  const words = Index.fts({
    // Only searches for phrases need positions. Without them, the index takes a third less disk.
    withPosition: false,
    // The column already has the words in their final form.
    baseTokenizer: "whitespace",
    lowercase: false,
    stem: false,
    asciiFolding: false,
    removeStopWords: false,
    maxTokenLength: 2 * MAX_TOKEN_BYTES,
  });
  await table.createIndex("words", { config: words, replace: true });
  await indexIds(Index, table);
  if (vectors === null) return;
  const config = Index.ivfFlat({ distanceType: "dot", numPartitions: partitionsFor(vectors) });
  await table.createIndex("vector", { config, replace: true });
}
