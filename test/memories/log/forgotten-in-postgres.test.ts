import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connectPostgres, type Postgres } from "../../../src/db/postgres.ts";
import { migratePostgres } from "../../../src/db/postgres-migrations.ts";
import type { Log } from "../../../src/memories/log/log.ts";
import { createPostgresLog } from "../../../src/memories/log/postgres-log.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { recordBase } from "./log-under-test.ts";

/** Settings under which what takes minutes by default takes a second. */
const QUICK = { autovacuum_naptime: "1s", min_wal_size: "32MB", max_wal_size: "64MB" };

let server: PostgresServer;
let postgres: Postgres;
let log: Log;
beforeAll(async () => {
  server = await startPostgres({ settings: QUICK });
  postgres = connectPostgres((await server.database()).url);
  await migratePostgres(postgres);
  for (const id of ["acc_a", "acc_b"]) {
    await postgres.rows(
      "INSERT INTO accounts (id, email, role, created_at) VALUES ($1, $1, 'member', 0)",
      [id],
    );
  }
  log = createPostgresLog(postgres);
});
afterAll(async () => {
  await postgres.close();
  await server.close();
});

const write = (account: string, text: string) =>
  log.append(account, {
    model: "m",
    written: Buffer.from(text),
    ...{ removed: [], leavesOldData: false, usage: { memories: 1, bytes: 1 }, answers: [] },
  });

/** Folders of PostgreSQL's own in which some file has a text: `base` are the tables, `pg_wal` is the log. */
function foldersWith(text: string): string[] {
  const data = join(server.folder, "data");
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => contentOf(path).includes(text))
    .map((path) => path.slice(data.length + 1).split("/")[0] ?? "");
  return [...new Set(found)].sort();
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    // It was removed in the meantime.
    return Buffer.alloc(0);
  }
}

/** Goes on with new files of the write-ahead log until all that there are now have been overwritten or removed. */
async function passAllLogFiles() {
  const [[files] = []] = await postgres.rows("SELECT count(*) FROM pg_ls_waldir()");
  for (let left = Number(files) + 2; left > 0; left--) {
    await server.execute("SELECT pg_switch_wal()");
    await write("acc_b", "again");
    await server.execute("CHECKPOINT");
  }
}

/** What `flush` does to the log once the base is durable without the text. */
async function flush(account: string, upTo: number) {
  const base = `${account}.${crypto.randomUUID().slice(0, 8)}`;
  await recordBase(log, account, { base, version: 1, files: [], upTo });
  await log.expunge(account);
}

test("a forgotten text leaves the tables' files by itself, and the write-ahead log after some of its files", async () => {
  const [small, large] = ["the key is under the mat", "and the code of the door is 1234"];
  await write("acc_b", "before".padEnd(1_000, "."));
  await write("acc_a", small.padEnd(1_000, "."));
  await write("acc_b", "between".padEnd(1_000, "."));
  const upTo = await write("acc_a", large.padEnd(100_000, "."));
  await server.execute("CHECKPOINT");
  expect(foldersWith(small)).toEqual(["base", "pg_wal"]);
  expect(foldersWith(large)).toEqual(["base", "pg_wal"]);

  await flush("acc_a", upTo);
  expect(await log.entries("acc_a")).toEqual([]);
  // The space of what is gone is what the next entries take.
  while (foldersWith(small).includes("base") || foldersWith(large).includes("base")) {
    await write("acc_b", "another memory of somebody else".padEnd(1_000, "."));
    await server.execute("CHECKPOINT");
    await Bun.sleep(100);
  }

  expect(foldersWith(small)).toEqual(["pg_wal"]);
  await passAllLogFiles();
  expect(foldersWith(small)).toEqual([]);
  expect(foldersWith(large)).toEqual([]);
});

test("VACUUM FULL and new files of the write-ahead log remove it at once, also from files that are used again", async () => {
  const text = "nobody must know of this";
  // More than two files of the log. The checkpoint keeps them for later, ahead of the one that is written next.
  await postgres.rows("SELECT pg_logical_emit_message(false, '', repeat('.', 40000000))");
  await flush("acc_a", await write("acc_a", text.padEnd(1_000, ".")));
  // It keeps what an open transaction may still read. Autovacuum's ANALYZE is one for an instant.
  await server.execute("CHECKPOINT");
  do await postgres.rows("VACUUM FULL journal");
  while (foldersWith(text).includes("base"));
  await passAllLogFiles();
  expect(foldersWith(text)).toEqual([]);
  expect(await log.entries("acc_b")).not.toEqual([]);
});
