import type { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { openReadOnly } from "../../src/db/sqlite-files.ts";
import { checkJournal, checkStrays, checkTables } from "../../src/doctor/database.ts";
import { baseFolder } from "../../src/memories/log/log.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { earlierDatabase, openRecorded, writeBase } from "../support/recorded-data.ts";

/** A data folder with an account and its recorded base. */
async function createData() {
  const dataDir = temporaryFolder();
  using data = openRecorded(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  const checkpoint = await writeBase(dataDir, `${id}.00000001`, 3);
  await data.log.checkpoint(id, checkpoint);
  return { dataDir, id, checkpoint, folder: join(dataDir, baseFolder(checkpoint.base)) };
}

async function withDatabase<Result>(dataDir: string, task: (sqlite: Sqlite) => Promise<Result>) {
  const sqlite = openReadOnly(databasePath(dataDir), false);
  try {
    return await task(sqlite);
  } finally {
    sqlite.close();
  }
}

const tablesOf = (dataDir: string) =>
  withDatabase(dataDir, async (sqlite) => {
    const lancedb = await loadLanceDb(testCacheDir);
    return await Array.fromAsync(checkTables(sqlite, { dataDir, lancedb }));
  });
const straysOf = (dataDir: string, isServed = false) =>
  withDatabase(dataDir, (sqlite) => Array.fromAsync(checkStrays(sqlite, { dataDir, isServed })));

test("a table is read from the base of its checkpoint", async () => {
  const { dataDir, id, checkpoint, folder } = await createData();
  const [finding] = await tablesOf(dataDir);
  expect(finding).toMatchObject({ check: `table ${id}`, state: "ok" });
  expect(finding?.message).toStartWith("3 memories in 3 rows");
  const file = join(folder, checkpoint.files.find((name) => name.startsWith("data/")) ?? "");
  truncateSync(file, 10);
  expect((await tablesOf(dataDir))[0]).toMatchObject({ state: "problem" });
  truncateSync(file, 0);
  expect((await tablesOf(dataDir))[0]?.message).toStartWith(`${file} is empty`);
  rmSync(folder, { recursive: true });
  expect((await tablesOf(dataDir))[0]?.message).toMatch(/\.manifest is missing: .*restore/);
});

test.each([
  ["is missing", (path: string) => rmSync(path)],
  ["is cut", (path: string) => truncateSync(path, 10)],
])("a table is damaged when a file of its indexes %s", async (_, damage) => {
  const dataDir = temporaryFolder();
  using data = openRecorded(dataDir);
  const checkpoint = await writeBase(dataDir, "acc_1.00000001", 3, { isIndexed: true });
  await data.log.checkpoint("acc_1", checkpoint);
  const ofIndex = checkpoint.files.filter((file) => file.startsWith("_indices/"));
  expect((await tablesOf(dataDir))[0]?.message).toContain("all indexed");
  for (const file of ofIndex) damage(join(dataDir, baseFolder(checkpoint.base), file));
  expect((await tablesOf(dataDir))[0]).toMatchObject({ state: "problem" });
});

test("a base without a checkpoint is reported, unless a server may be writing it", async () => {
  const { dataDir, id } = await createData();
  expect(await straysOf(dataDir)).toMatchObject([{ state: "ok", message: "none" }]);
  for (const name of ["00000002", "0a0b0c0d.00000003"]) {
    mkdirSync(join(dataDir, baseFolder(`${id}.${name}`)));
  }
  const found = await straysOf(dataDir);
  expect(found.map(({ state }) => state)).toEqual(["ok", "ok"]);
  for (const { message } of found) {
    expect(message).toEndWith("was left by a crash: the next start removes it");
  }
  expect(await straysOf(dataDir, true)).toMatchObject([{ message: "none" }]);
  mkdirSync(join(dataDir, baseFolder("acc_other.00000001")));
  expect(await straysOf(dataDir, true)).toMatchObject([{ state: "warning" }]);
});

test("the age of the journal is that of its oldest entry", async () => {
  const { dataDir, id } = await createData();
  {
    using data = openRecorded(dataDir);
    const entry = {
      model: "model",
      written: null,
      removed: ["mem_1"],
      leavesOldData: true,
      answers: [],
    };
    const usage = { memories: 1, bytes: 1 };
    for (let n = 0; n < 2; n++) await data.log.append(id, { ...entry, usage });
  }
  const journalAt = (now: number) =>
    withDatabase(dataDir, async (sqlite) => checkJournal(sqlite, { isServed: true, now }));
  const now = Date.now();
  const { state, message } = await journalAt(now);
  expect({ state, message }).toEqual({ state: "ok", message: expect.stringMatching(/^2 entries/) });
  const [, moment = ""] = /the oldest of (\S+)$/.exec(message) ?? [];
  expect(now - Date.parse(moment)).toBeWithin(0, 60_000);
  expect((await journalAt(now + 3_600_000)).state).toBe("warning");
});

test("a data folder of an earlier version is checked without migrating it", async () => {
  const dataDir = temporaryFolder();
  const { version, files } = await writeBase(dataDir, "acc_1", 3);
  earlierDatabase(dataDir, (sqlite) => {
    sqlite.run(
      "INSERT INTO accounts (id, email, role, created_at) VALUES ('acc_1', 'x', 'owner', 0)",
    );
    const listed = JSON.stringify(files);
    sqlite.run("INSERT INTO checkpoints VALUES ('acc_1', ?, ?, 0)", [version, listed]);
    sqlite.run("INSERT INTO journal (account_id, removed) VALUES ('acc_1', '[]')");
  });
  expect((await tablesOf(dataDir))[0]?.message).toStartWith("3 memories");
  expect(await straysOf(dataDir)).toMatchObject([{ message: "none" }]);
  const journal = await withDatabase(dataDir, async (sqlite) =>
    checkJournal(sqlite, { isServed: false, now: Date.now() }),
  );
  expect(journal.message).toStartWith("1 entries (0 kB): the next start");
});
