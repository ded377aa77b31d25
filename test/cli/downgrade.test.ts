import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { ctxd } from "../support/command-line.ts";
import { testCacheDir } from "../support/embedder.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const newer = join(root, "newer");
const env = { CTXD_CACHE_DIR: testCacheDir, CTXD_PORT: "0" };

/** A data folder that a newer version has migrated. */
beforeAll(async () => {
  const fixture = join(import.meta.dir, "..", "fixtures", "0.1-last.tar.gz");
  await Bun.$`tar -C ${root} -xzf ${fixture} data`;
  await ctxd(["migrate"], { dataDir: join(root, "data"), env });
  using database = new Database(join(root, "data", "ctxd.db"));
  database.run("PRAGMA journal_mode = DELETE");
  database.run("CREATE TABLE of_a_later_version (id TEXT) STRICT");
  database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  database.run("PRAGMA journal_mode = WAL");
  cpSync(join(root, "data"), newer, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

/** The content of all files by path, without SQLite's empty helper files and the record of the running server. */
function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !/-(wal|shm)$|^server\.lock|^owner\.json$/.test(entry.name),
    )
    .map((entry) => join(entry.parentPath, entry.name));
  const hashes = files.map((path) => [path, Bun.SHA256.hash(readFileSync(path), "hex")] as const);
  return Object.fromEntries(hashes);
}

describe("data of a newer version is refused and not changed:", () => {
  test.each([
    [["serve"]],
    [["migrate"]],
    [["migrate", "--check"]],
    [["doctor"]],
    [["user", "list"]],
    [["key", "create", "--user", "ada@example.com", "--name", "x"]],
    [["backup", join(root, "backup")]],
  ])("ctxd %p", async (args) => {
    const before = contentOf(newer);
    const { exitCode, stdout, stderr } = await ctxd(args, { dataDir: newer, env });
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain("a newer ctxd");
    expect(contentOf(newer)).toEqual(before);
  });
});

test("an agent receives the reason", async () => {
  const params = { name: "list_memories", arguments: {} };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const before = contentOf(newer);
  const { stdout } = await ctxd(["mcp"], {
    ...{ dataDir: newer, env },
    input: `${JSON.stringify(message)}\n`,
  });
  expect(JSON.parse(stdout).error.message).toContain("was written by a newer ctxd");
  expect(contentOf(newer)).toEqual(before);
});

test("the older version can restore a backup that it made before", async () => {
  const fixture = join(import.meta.dir, "..", "fixtures", "0.1-last.tar.gz");
  await Bun.$`tar -C ${root} -xzf ${fixture} backup`;
  const there = await ctxd(["restore", join(root, "backup")], { dataDir: newer, env });
  expect(there.exitCode).toBe(1);
  const empty = join(root, "empty");
  const restored = await ctxd(["restore", join(root, "backup")], { dataDir: empty, env });
  expect(restored).toMatchObject({ exitCode: 0 });
  expect(await ctxd(["user", "list"], { dataDir: empty, env })).toMatchObject({ exitCode: 0 });
});
