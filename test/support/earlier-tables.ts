import * as lancedb from "@lancedb/lancedb";
import { connectTo } from "../../src/memories/base/connection.ts";
import { adoptRows, baseSchema, encodeRows } from "../../src/memories/base/schema.ts";
import type { StoredMemory } from "../../src/memories/model/rows.ts";
import { model } from "./bases.ts";

import Arrow = require("apache-arrow");

/** The columns of version 1.0, before there were projects. */
const COLUMNS = [
  ...["id", "passage", "passages", "content", "tags", "agent_id", "session_id", "importance"],
  ...["metadata", "created_at", "updated_at", "vector"],
];

const INDEXES: readonly [column: string, config: lancedb.Index][] = [
  ["id", lancedb.Index.btree()],
  ["created_at", lancedb.Index.btree()],
  ["tags", lancedb.Index.labelList()],
  ["agent_id", lancedb.Index.bitmap()],
  ["session_id", lancedb.Index.btree()],
  ["content", lancedb.Index.fts({ withPosition: false })],
];

/** A memory as what version 1.0 wrote is read. */
export function asEarlier(memory: StoredMemory): StoredMemory {
  return { ...memory, starts: [], states: new Int8Array(0) };
}

function earlierTable(memories: readonly StoredMemory[]): Arrow.Table {
  const present = baseSchema(model);
  const key = new Map([["lance-schema:unenforced-primary-key", "true"]]);
  const fields = COLUMNS.map((name) => {
    const field = present.fields.find((each) => each.name === name);
    if (!field) throw new Error(`there is no column ${name}`);
    return name === "id" ? new Arrow.Field("id", new Arrow.Utf8(), false, key) : field;
  });
  const schema = new Arrow.Schema(fields, present.metadata);
  return new Arrow.Table(schema, [adoptRows(encodeRows(memories, present), schema)]);
}

/** A journal's entry as version 1.0 wrote it. */
export function earlierEntry(memories: readonly StoredMemory[]): Uint8Array {
  return Arrow.tableToIPC(earlierTable(memories));
}

/**
 * A table as version 1.0 wrote it, in the folder of bases.
 * @param moved id of a row that an update has moved away from the others of its memory
 * @param lost id of a row that is missing
 * @param isIndexed whether it has the indexes of a table that is not small
 * @returns its version
 */
export async function writeEarlierTable(
  folder: string,
  name: string,
  memories: readonly StoredMemory[],
  { moved, lost, isIndexed = false }: { moved: string; lost?: string; isIndexed?: boolean },
): Promise<number> {
  const connection = await connectTo(lancedb, folder);
  const table = await connection.createEmptyTable(name, earlierTable([]).schema);
  await table.add(earlierTable(memories));
  const { rowsUpdated } = await table.update({
    where: `id = '${moved}'`,
    valuesSql: { passage: "passage" },
  });
  if (rowsUpdated !== 1) throw new Error("no row was moved");
  if (lost !== undefined) await table.delete(`id = '${lost}'`);
  for (const [column, config] of isIndexed ? INDEXES : []) {
    await table.createIndex(column, { config });
  }
  const version = await table.version();
  connection.close();
  return version;
}
