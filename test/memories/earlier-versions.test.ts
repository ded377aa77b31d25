import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { manifestFile } from "../../src/memories/log/log.ts";
import first from "../fixtures/0.1-first.json" with { type: "json" };
import last from "../fixtures/0.1-last.json" with { type: "json" };
import told from "../fixtures/earlier-version.json" with { type: "json" };
import { type Client, createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import {
  expectAll,
  expectFound,
  expectKept,
  expectRefilled,
  serveByProgram,
  serveHere,
  untilEmbedded,
} from "../support/earlier-versions.ts";
import { testCacheDir } from "../support/embedder.ts";

/**
 * Data folders and backups of earlier versions. Of version 0.1: by its first program, by the last one
 * before memories were stored as a log and a base (see fixtures/make.ts), and by its last one. The program opens the
 * last one's folder; the others are opened in this process, where one engine embeds each text once.
 */
const TIMEOUT = 120_000;

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const pathTo = (...parts: string[]) => join(root, ...parts);
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
  const fixtures = join(import.meta.dir, "..", "fixtures");
  await Bun.$`tar -C ${root} -xzf ${join(fixtures, "earlier-version.tar.gz")}`;
  cpSync(pathTo("data"), pathTo("rested"), { recursive: true });
  for (const name of ["0.1-first", "0.1-last"]) {
    await Bun.$`mkdir ${pathTo(name)} && tar -C ${pathTo(name)} -xzf ${join(fixtures, `${name}.tar.gz`)}`;
  }
});

/**
 * Does what the earlier version did after each checkpoint.
 * @returns how many files were removed
 */
function removeOlderVersions(dataDir: string): number {
  const db = new Database(join(dataDir, "ctxd.db"));
  const rows = db
    .query<{ table: string; version: number; files: string }, []>(
      'SELECT account_id AS "table", version, files FROM checkpoints',
    )
    .all();
  db.close();
  let removed = 0;
  for (const { table, version, files } of rows) {
    const isNeeded = (file: string) =>
      file === manifestFile(version) || file.startsWith(`_transactions/${version - 1}-`);
    for (const file of JSON.parse(files)) {
      if (!/^_(versions|transactions)/.test(file) || isNeeded(file)) continue;
      rmSync(join(dataDir, "memories", `${table}.lance`, file));
      removed++;
    }
  }
  return removed;
}

/** Makes the recorded answers less than 24 hours old, while the server runs. */
function renewIdempotencyKeys(dataDir: string) {
  const db = new Database(join(dataDir, "ctxd.db"));
  db.run("PRAGMA busy_timeout = 30000");
  const { changes } = db.run("UPDATE idempotency_keys SET created_at = ?", [Date.now()]);
  db.close();
  expect(changes).toBe(told.repeated.length);
}

async function restore(backup: string, dataDir: string) {
  const env = { CTXD_CACHE_DIR: testCacheDir };
  const { exitCode, stderr } = await ctxd(["restore", backup], { dataDir, env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
}

/** A repeated request gets the earlier version's answer. */
function expectRepeated(dataDir: string) {
  return async (clients: readonly Client[]) => {
    renewIdempotencyKeys(dataDir);
    for (const { account, idempotencyKey, content, id } of told.repeated) {
      const headers = { "idempotency-key": idempotencyKey };
      expect((await clients[account]?.save({ content }, headers))?.id).toBe(id);
    }
  };
}

/** Histories are kept. */
async function expectHistory([client]: readonly Client[]) {
  const [id = "", former] = last.history;
  const history = await client?.send("GET", `/memories/${id}/history`);
  expect(history?.body).toMatchObject({ memories: [{ id }, { id: former }] });
}

test.concurrent(
  "a data folder of a killed server with writes in its journal opens and loses nothing",
  async () => {
    await expectKept(pathTo("data"), told, expectRepeated(pathTo("data")));
    expectRefilled(pathTo("data"));
  },
  TIMEOUT,
);

test.concurrent(
  "a data folder whose listed files of older versions were removed loses nothing",
  async () => {
    const dataDir = join(root, "rested");
    expect(removeOlderVersions(dataDir)).toBeGreaterThan(10);
    await expectKept(dataDir, told, expectRepeated(dataDir));
    expectRefilled(dataDir);
  },
  TIMEOUT,
);

test.concurrent(
  "a backup with writes in its journal is restored and loses nothing",
  async () => {
    const dataDir = join(root, "restored");
    await restore(join(root, "backup"), dataDir);
    await expectKept(dataDir, told, expectRepeated(dataDir));
    expectRefilled(dataDir);
  },
  TIMEOUT,
);

test.concurrent(
  "an interrupted change of the model continues",
  async () => {
    const dataDir = join(root, "changing");
    const tables = join(dataDir, "memories");
    expect(readdirSync(tables)).toHaveLength(2);
    await using server = await serveHere(dataDir);
    const { origin } = server;
    const client = createClient(origin, told.changing.key);
    await expectAll(client, origin, told.changing.memories);
    await untilEmbedded(server);
    await expectAll(client, origin, told.changing.memories);
    await expectFound(client, told.changing.memories);
    await server.end();
    expect(readdirSync(tables)).toHaveLength(1);
    expectRefilled(dataDir);
  },
  TIMEOUT,
);

test.concurrent(
  "a data folder of the first program of 0.1 opens and loses nothing",
  async () => {
    await expectKept(pathTo("0.1-first", "data"), first);
    expectRefilled(pathTo("0.1-first", "data"));
  },
  TIMEOUT,
);

test.concurrent(
  "a data folder of the last program of 0.1 opens, loses nothing, and is backed up and restored",
  async () => {
    const dataDir = pathTo("0.1-last", "data");
    await expectKept(dataDir, last, expectHistory, serveByProgram);
    const env = { CTXD_CACHE_DIR: testCacheDir };
    const backup = await ctxd(["backup", pathTo("of-0.1")], { dataDir, env });
    expect(backup).toMatchObject({ exitCode: 0 });
    await restore(pathTo("of-0.1"), pathTo("back"));
    await using server = await serveByProgram(pathTo("back"));
    const { origin } = server;
    for (const { key, memories } of last.accounts) {
      await expectAll(createClient(origin, key), origin, memories);
    }
  },
  TIMEOUT,
);

test.concurrent(
  "a backup of the last program of 0.1 is restored and loses nothing",
  async () => {
    const dataDir = pathTo("restored-0.1");
    await restoreBackup({ folder: pathTo("0.1-last", "backup"), dataDir, version });
    await expectKept(dataDir, last, expectHistory);
  },
  TIMEOUT,
);
