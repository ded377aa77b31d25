import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInModel } from "../../src/embedding/manifest.ts";
import { accountOf, manifestFile, tableFor } from "../../src/memories/log/names.ts";
import { filesWith, untilGone } from "../crash/traces.ts";
import told from "../fixtures/earlier-version.json" with { type: "json" };
import { type Client, createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";
import { spawnServer } from "../support/server-process.ts";

/**
 * Of data folders and a backup that an earlier version has left (see fixtures/make.ts), everything
 * is there, and nothing of what was deleted.
 */
type Recorded = (typeof told.accounts)[number]["memories"];

/** Milliseconds within which deleted texts must be gone, and that a test may take. */
const PATIENCE = 60_000;
const TIMEOUT = 120_000;

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
  const archive = join(import.meta.dir, "..", "fixtures", "earlier-version.tar.gz");
  await Bun.$`tar -C ${root} -xzf ${archive}`;
});

async function exported({ key }: Client, origin: string): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${origin}/api/memories/export`, { headers });
  const lines = (await answer.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** All fields that the earlier version knew are as it gave them; others may have come. */
async function expectAll(client: Client, origin: string, recorded: Recorded) {
  const now = await exported(client, origin);
  const known = now.map((memory, index) =>
    Object.fromEntries(Object.keys(recorded[index] ?? {}).map((name) => [name, memory[name]])),
  );
  expect(known).toEqual(recorded);
}

/** Each is found by how it begins and by how it ends. */
async function expectFound({ search }: Client, recorded: Recorded) {
  for (const { id, content } of recorded) {
    for (const text of new Set([content.slice(0, 150), content.slice(-150)])) {
      const found = await search(text, { limit: 5 });
      expect({ text, ids: found.map((memory) => memory.id) }).toEqual({
        text,
        ids: expect.arrayContaining([id]),
      });
    }
  }
}

/** Does what the earlier version did after each checkpoint. Returns how many files were removed. */
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

/** The recorded answers are less than 24 hours old again. Beside the server: it reads what it finds. */
function renewIdempotencyKeys(dataDir: string) {
  const db = new Database(join(dataDir, "ctxd.db"));
  db.run("PRAGMA busy_timeout = 30000");
  const { changes } = db.run("UPDATE idempotency_keys SET created_at = ?", [Date.now()]);
  db.close();
  expect(changes).toBe(told.repeated.length);
}

/** Until all memories have what the present model makes of them. */
async function untilEmbedded(origin: string) {
  const vectors = async () => {
    const health = await fetch(`${origin}/api/health`);
    return JSON.parse(await health.text()).checks.vectors;
  };
  while ((await vectors()) !== "ok") await Bun.sleep(20);
}

/** The tables are those of the present model, which keeps more than that of the earlier version. */
function expectPresentModel(dataDir: string) {
  const folders = readdirSync(join(dataDir, "memories"));
  expect(folders).not.toEqual([]);
  for (const folder of folders) {
    expect(folder).toStartWith(`${tableFor(accountOf(folder), builtInModel.id)}.`);
  }
}

async function expectKept(dataDir: string) {
  expect(filesWith(dataDir, told.gone)).not.toEqual([]);
  {
    await using server = spawnServer(dataDir, "real");
    const origin = await server.origin();
    const clients = told.accounts.map(({ key }) => createClient(origin, key));
    for (const [index, { memories }] of told.accounts.entries()) {
      const client = clients[index];
      if (!client) throw new Error("no client");
      await expectAll(client, origin, memories);
      await expectFound(client, memories);
      const stats = (await client.send("GET", "/stats")).body;
      expect(stats).toMatchObject({ memories: memories.length });
      for (const word of told.gone) {
        expect(await client.search(word, { mode: "keyword" })).toEqual([]);
      }
    }
    renewIdempotencyKeys(dataDir);
    for (const { account, idempotencyKey, content, id } of told.repeated) {
      const again = await clients[account]?.save(
        { content },
        { "idempotency-key": idempotencyKey },
      );
      expect(again?.id).toBe(id);
    }
    expect(await untilGone(dataDir, told.gone, PATIENCE)).toEqual([]);
    await untilEmbedded(origin);
    await server.end();
    expectPresentModel(dataDir);
  }
  await using server = spawnServer(dataDir, "real");
  const origin = await server.origin();
  for (const { key, memories } of told.accounts) {
    const client = createClient(origin, key);
    await expectAll(client, origin, memories);
    await expectFound(client, memories);
  }
}

test.concurrent(
  "a data folder of a killed server, with writes in its journal alone, opens and loses nothing",
  () => expectKept(join(root, "data")),
  TIMEOUT,
);

test.concurrent(
  "a data folder whose files of older versions went after they had been listed loses nothing",
  async () => {
    const dataDir = join(root, "rested");
    cpSync(join(root, "data"), dataDir, { recursive: true });
    expect(removeOlderVersions(dataDir)).toBeGreaterThan(10);
    await expectKept(dataDir);
  },
  TIMEOUT,
);

test.concurrent(
  "a backup with writes in its journal alone is restored and loses nothing",
  async () => {
    const dataDir = join(root, "restored");
    const env = { CTXD_CACHE_DIR: testCacheDir };
    const { exitCode, stderr } = await ctxd(["restore", join(root, "backup")], { dataDir, env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    await expectKept(dataDir);
  },
  TIMEOUT,
);

test.concurrent(
  "a change of the model that was cut off in the middle goes on to its end",
  async () => {
    const dataDir = join(root, "changing");
    const tables = join(dataDir, "memories");
    expect(readdirSync(tables)).toHaveLength(2);
    await using server = spawnServer(dataDir, "real");
    const origin = await server.origin();
    const client = createClient(origin, told.changing.key);
    await expectAll(client, origin, told.changing.memories);
    await untilEmbedded(origin);
    await expectAll(client, origin, told.changing.memories);
    await expectFound(client, told.changing.memories);
    await server.end();
    expect(readdirSync(tables)).toHaveLength(1);
    expectPresentModel(dataDir);
  },
  TIMEOUT,
);
