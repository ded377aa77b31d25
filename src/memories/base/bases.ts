import { randomBytes } from "node:crypto";
import type * as LanceDb from "@lancedb/lancedb";

import Arrow = require("apache-arrow");

import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../pause.ts";
import { LONG } from "../indexes/tokens.ts";
import type { Checkpoint } from "../log/log.ts";
import type { StoredMemory } from "../rows.ts";
import type { Base, Bases } from "./base.ts";
import { connectTo } from "./connection.ts";
import { decodeIds } from "./decode.ts";
import { adoptRows, encodeRows, missingWords } from "./encode.ts";
import { exceptSql } from "./filter-sql.ts";
import { type LanceBase, openLanceBase, partitionsFor } from "./lance-base.ts";
import { createRestoringBase } from "./restoring-base.ts";
import { baseSchema, memoryIdOf } from "./schema.ts";
import type { Vault } from "./vault.ts";

/** Bytes of LanceDB's caches for a base at the most; its own defaults are 6 GiB and 1 GiB. */
const INDEX_CACHE = 64n << 20n;
const METADATA_CACHE = 8n << 20n;
/**
 * Bytes of rows that are committed at once, as a fragment of their own. The main thread copies them
 * twice, in 5 ms or so, and the copies wait for the garbage collector: with twice as many, a rewrite
 * of 100,000 memories takes 250 MB instead of 150.
 */
const COMMIT = 4 << 20;
/** Memories that are encoded at once, and characters of those: to index their words takes 10 ms or so. */
const ENCODED = 256;
const ENCODED_CHARACTERS = 100_000;
/** Changed memories up to which LanceDB leaves them out itself; its work grows with their number. */
const LEFT_OUT = 2_000;
/** Rows that are read at once by their addresses. */
const TAKEN = 4_096;

/** What a flush does, in order. A test stops the process after each of them. */
export const FLUSH_STEPS = [
  "rows added",
  "added files kept",
  "base written",
  "base kept",
  "indexes made",
  "indexes kept",
  "checkpoint recorded",
  "former base removed",
  "log expunged",
] as const;
/** What it does besides where other processes have the table too: first, and instead. */
export const SHARED_STEPS = ["lease taken", "base of others opened"] as const;
export type FlushStep = (typeof FLUSH_STEPS | typeof SHARED_STEPS)[number];
/** Receives each step when it is done, and may throw. */
export type OnStep = (step: FlushStep) => void | Promise<void>;

/**
 * @param folder holds the bases, in `NAME.lance` each
 * @param wanted the model in use, for bases that say no more of theirs than its name
 * @param mend brings local files back that may be lost at any moment; none where they can't be
 */
export function createBases({
  lancedb,
  folder,
  vault,
  wanted,
  mend,
  step = () => {},
}: {
  lancedb: typeof LanceDb;
  folder: string;
  vault: Vault;
  wanted?: EmbeddingModel | undefined;
  mend?: ((checkpoint: Checkpoint) => Promise<void>) | undefined;
  step?: OnStep;
}): Bases {
  const opened = new WeakMap<Base, LanceBase>();
  const lanceOf = (base: Base): LanceBase => {
    const lance = opened.get(base);
    if (!lance) throw new Error("a base of others");
    return lance;
  };
  // One for each base: what it has in memory is given back with it and not before, some 80 kB for
  // every table that was ever opened.
  const connect = () =>
    connectTo(lancedb, folder, new lancedb.Session(INDEX_CACHE, METADATA_CACHE));

  /** Makes the files of a table durable that was just written. */
  const keep = async (
    { name, version }: { name: string; version: number },
    upTo: number,
    done: FlushStep,
  ): Promise<Checkpoint> => {
    const files = await vault.needed(name);
    await vault.keep(name, files);
    await step(done);
    return { base: name, version, files, upTo };
  };

  /** Writes to a base at its newest version, while others read that of its checkpoint. */
  const change = async (
    base: Base,
    upTo: number,
    task: (table: LanceDb.Table) => Promise<void>,
    [made, kept]: readonly [FlushStep, FlushStep],
  ): Promise<Checkpoint> => {
    const { base: name, version } = base.checkpoint;
    const table = await lanceOf(base).connection.openTable(name);
    try {
      if ((await table.version()) !== version) {
        throw new Error(`${name} is ahead of its checkpoint`);
      }
      await task(table);
      await step(made);
      const checkpoint = await keep({ name, version: await table.version() }, upTo, kept);
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
        connection.close();
        release();
      };
      try {
        const lance = await openLanceBase(lancedb, { connection, close }, checkpoint, wanted);
        const base = mend ? createRestoringBase(lance, () => mend(lance.checkpoint)) : lance;
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
      const connection = await connect();
      try {
        const rows = liveRows(former && lanceOf(former), changes, baseSchema(model));
        const version = await writeTable(connection, name, baseSchema(model), rows);
        await step("base written");
        return await keep({ name, version }, upTo, "base kept");
      } catch (error) {
        await vault.forget([name]).catch(() => {});
        // It may be that the former one could not be read: then the next try can.
        if (former) await mend?.(former.checkpoint);
        throw error;
      } finally {
        connection.close();
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

/** @returns the version that has all rows */
async function writeTable(
  connection: LanceDb.Connection,
  name: string,
  schema: Arrow.Schema,
  rows: AsyncIterable<Arrow.RecordBatch>,
): Promise<number> {
  let table: LanceDb.Table | null = null;
  for await (const part of inCommits(rows)) {
    if (table) await table.add(part);
    else table = await connection.createTable(name, part);
  }
  table ??= await connection.createEmptyTable(name, schema);
  const version = await table.version();
  table.close();
  return version;
}

/** Puts batches together that are to be committed at once. */
async function* inCommits(rows: AsyncIterable<Arrow.RecordBatch>): AsyncGenerator<Arrow.Table> {
  let pending: Arrow.RecordBatch[] = [];
  let bytes = 0;
  for await (const batch of rows) {
    pending.push(batch);
    bytes += batch.data.byteLength;
    if (bytes < COMMIT) continue;
    yield new Arrow.Table(pending);
    [pending, bytes] = [[], 0];
  }
  if (pending.length > 0) yield new Arrow.Table(pending);
}

/** The rows that a base has after changes. */
async function* liveRows(
  former: LanceBase | null,
  changes: ReadonlyMap<string, StoredMemory | null>,
  schema: Arrow.Schema,
) {
  const untouched = former ? rowsExcept(former.table, [...changes.keys()]) : [];
  for await (const batch of untouched) yield adoptRows(batch, schema, await missingWords(batch));
  const written = [...changes.values()].filter((memory) => memory !== null);
  yield* encodeAll(written, schema);
}

async function* encodeAll(memories: readonly StoredMemory[], schema: Arrow.Schema) {
  const pause = createPause();
  for (let at = 0; at < memories.length; ) {
    await pause();
    const start = at;
    for (let characters = 0; at < memories.length && at - start < ENCODED; at++) {
      characters += memories[at]?.content.length ?? 0;
      if (at > start && characters > ENCODED_CHARACTERS) break;
    }
    yield encodeRows(memories.slice(start, at), schema);
  }
}

/** Rows of all memories but these, as they are stored. */
async function* rowsExcept(table: LanceDb.Table, ids: readonly string[]) {
  if (ids.length <= LEFT_OUT) {
    yield* ids.length > 0 ? table.query().where(exceptSql(ids)) : table.query();
    return;
  }
  const left = new Set(ids);
  const addresses: bigint[] = [];
  for await (const batch of table.query().withRowId().select(["id", "_rowid"])) {
    const column: Iterable<bigint> = batch.getChild("_rowid") ?? [];
    const found = decodeIds(batch);
    let row = 0;
    for (const address of column) {
      if (!left.has(memoryIdOf(found[row++] ?? ""))) addresses.push(address);
    }
  }
  for (let at = 0; at < addresses.length; at += TAKEN) {
    yield* table.takeRowIds(addresses.slice(at, at + TAKEN));
  }
}

/** @param vectors how many there are, for an index of them; null for none */
async function createIndexes(
  { Index }: typeof LanceDb,
  table: LanceDb.Table,
  vectors: number | null,
): Promise<void> {
  const words = Index.fts({
    // Positions would serve phrases, which no search asks for, at a third more disk.
    withPosition: false,
    // The column has the words as they are to be found.
    ...{ baseTokenizer: "whitespace", lowercase: false, stem: false, asciiFolding: false },
    ...{ removeStopWords: false, maxTokenLength: 2 * LONG },
  });
  await table.createIndex("words", { config: words, replace: true });
  await table.createIndex("id", { config: Index.btree(), replace: true });
  if (vectors === null) return;
  const config = Index.ivfFlat({ distanceType: "dot", numPartitions: partitionsFor(vectors) });
  await table.createIndex("vector", { config, replace: true });
}
