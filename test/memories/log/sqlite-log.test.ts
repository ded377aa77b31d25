import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccounts } from "../../../src/accounts/accounts.ts";
import { databasePath } from "../../../src/db/data-lock.ts";
import { openSqlite, type SqliteDatabase } from "../../../src/db/sqlite.ts";
import { createSqliteLog } from "../../../src/memories/log/sqlite-log.ts";
import { afterThisTest, temporaryFolder, testDatabase } from "../../support/database.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { earlierDatabase } from "../../support/recorded-data.ts";
import { until } from "../../support/until.ts";
import { describeLog } from "./contract.ts";
import { checkpointOf, entryOf } from "./log-under-test.ts";

describeLog("a log in SQLite", () => {
  const path = databasePath(temporaryFolder());
  let db: SqliteDatabase;
  let accounts = 0;
  afterThisTest(() => db.close());
  return {
    open() {
      db = openSqlite(path);
      return createSqliteLog({ db });
    },
    // Another process would find the same files: what is not in a transaction is in none of them.
    crash: () => db.sqlite.close(),
    addAccount: async () => {
      const email = `a${++accounts}@example.com`;
      return (await createAccounts({ db, clock: Date.now }).add({ email, password: null })).id;
    },
  };
});

/** Whether a file below a folder has a text. */
function isIn(folder: string, text: string): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(text));
}

test("calls without a wait between them are done in their order", async () => {
  const log = createSqliteLog({ db: testDatabase() });
  const upTo = await log.append("acc_1", entryOf("one"));
  await Promise.all([
    log.append("acc_1", entryOf("two")),
    log.checkpoint("acc_1", { base: "acc_1.0a0b0c0d", version: 1, files: [], upTo }),
    log.forget(["acc_1"]),
    log.append("acc_1", entryOf("three")),
  ]);
  const [only, ...others] = await log.entries("acc_1");
  expect(new TextDecoder().decode(only?.written ?? undefined)).toBe("three");
  expect(others).toEqual([]);
  expect((await log.head("acc_1"))?.checkpoint).toBeNull();
});

test("a table without entries may have a checkpoint", async () => {
  const log = createSqliteLog({ db: testDatabase() });
  await log.checkpoint("acc_1.0a0b0c0d", checkpointOf(3));
  const head = { seq: 3, usage: null, checkpoint: checkpointOf(3) };
  expect(await log.head("acc_1.0a0b0c0d")).toEqual(head);
  expect(await log.tables()).toEqual(["acc_1.0a0b0c0d"]);
});

const SECRET = "remarkable ".repeat(2_000);
const base = { base: "acc_1", version: 1, files: [] };

test("what a checkpoint includes is in no file once it is expunged", async () => {
  const dataDir = temporaryFolder();
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  const upTo = await log.append("acc_1", entryOf(SECRET));
  await log.append("acc_1", entryOf("the next"));
  await log.checkpoint("acc_1", { ...base, upTo });
  expect(isIn(dataDir, "remarkable")).toBe(true);
  expect(await log.expunge()).toBe(true);
  expect(isIn(dataDir, "remarkable")).toBe(false);
  expect(await log.size()).toBe(1);
});

test("while much is expunged, others have their turns, and what they write is there", async () => {
  const log = createSqliteLog({ db: testDatabase() });
  const megabyte = entryOf("x".repeat(1 << 20));
  let upTo = 0;
  for (let number = 0; number < 20; number++) upTo = await log.append("acc_1", megabyte);
  await log.checkpoint("acc_1", { ...base, upTo });
  let [turns, isOver] = [0, false];
  const expunging = log.expunge().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    if (turns === 5) await log.append("acc_1", entryOf("meanwhile"));
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await expunging).toBe(true);
  expect(turns).toBeGreaterThan(10);
  expect((await log.entries("acc_1")).map(({ written }) => String(written))).toEqual(["meanwhile"]);
  expect(await log.size()).toBe(1);
});

/** Bytes that this process has read from files, also from the cache of the system. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test.skipIf(process.platform !== "linux")(
  "expunging finds entries without reading them",
  async () => {
    const log = createSqliteLog({ db: testDatabase() });
    const megabyte = entryOf("x".repeat(1 << 20));
    let upTo = 0;
    for (let number = 0; number < 20; number++) upTo = await log.append("acc_1", megabyte);
    await log.checkpoint("acc_1", { ...base, upTo });
    const before = bytesRead();
    const expunging = log.expunge();
    // The first deletion begins in a later turn.
    expect(bytesRead() - before).toBeLessThan(1 << 20);
    expect(await expunging).toBe(true);
  },
);

test("many small entries are expunged, more than one statement can name", async () => {
  const log = createSqliteLog({ db: testDatabase() });
  const small = entryOf("", { written: null, removed: ["mem_1"] });
  const seqs = await Promise.all(Array.from({ length: 1_200 }, () => log.append("acc_1", small)));
  await log.checkpoint("acc_1", { ...base, upTo: Math.max(...seqs) });
  expect(await log.expunge()).toBe(true);
  expect(await log.size()).toBe(0);
});

test("a forgotten table is in no file", async () => {
  const dataDir = temporaryFolder();
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  await log.append("acc_1", entryOf(SECRET));
  await log.forget(["acc_1"]);
  expect(isIn(dataDir, "remarkable")).toBe(false);
});

test("while another process reads, expunging says at once that it could not, and can later", async () => {
  const dataDir = temporaryFolder();
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  const upTo = await log.append("acc_1", entryOf(SECRET));
  const reader = new Sqlite(databasePath(dataDir), { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM journal").get();
  await log.checkpoint("acc_1", { ...base, upTo });
  const started = performance.now();
  expect(await log.expunge()).toBe(false);
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(isIn(dataDir, "remarkable")).toBe(true);
  reader.run("COMMIT");
  expect(await log.expunge()).toBe(true);
  expect(isIn(dataDir, "remarkable")).toBe(false);
  reader.close();
});

test("what could not be expunged while another process read is gone soon after it has ended", async () => {
  const dataDir = temporaryFolder();
  const reader = new Sqlite(databasePath(dataDir), { create: true });
  const read = () => {
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM journal").get();
  };
  const untilGone = async () => {
    expect(isIn(dataDir, "remarkable")).toBe(true);
    reader.run("COMMIT");
    await until("the files have none of it", () => !isIn(dataDir, "remarkable"), 50);
  };
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  await log.append("acc_1", entryOf(SECRET));
  read();
  await log.forget(["acc_1"]);
  await untilGone();
  const upTo = await log.append("acc_2", entryOf(SECRET));
  await log.checkpoint("acc_2", { ...base, upTo });
  read();
  expect(await log.expunge()).toBe(false);
  await untilGone();
  reader.close();
});

test("all that is appended at one moment is one transaction", async () => {
  const real = testDatabase();
  let transactions = 0;
  const db: SqliteDatabase = {
    ...real,
    exclusively(task) {
      transactions++;
      return real.exclusively(task);
    },
  };
  const log = createSqliteLog({ db });
  const append = (table: string) => log.append(table, entryOf("x"));
  await Promise.all(["acc_1", "acc_2", "acc_3", "acc_1"].map(append));
  expect(transactions).toBe(1);
  await append("acc_1");
  expect(transactions).toBe(2);
});

test("when the transaction fails, all that were in it are refused, and the next one goes on", async () => {
  const dataDir = temporaryFolder();
  const db = testDatabase(dataDir);
  const log = createSqliteLog({ db });
  // The largest that it may be now: the disk is full.
  db.sqlite.run("PRAGMA max_page_count = 1");
  const appended = await Promise.allSettled([
    log.append("acc_1", entryOf("small")),
    log.append("acc_2", entryOf(SECRET)),
  ]);
  expect(appended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  db.sqlite.run("PRAGMA max_page_count = 1000000");
  await log.append("acc_1", entryOf("again"));
  expect(await log.tables()).toEqual(["acc_1"]);
  expect(await log.size()).toBe(1);
});

test("a transaction that the disk refused is voided, and again until that succeeds", async () => {
  const real = testDatabase();
  let attempts = 0;
  const isVoided = Promise.withResolvers<void>();
  const db: SqliteDatabase = {
    ...real,
    eraseFailedTransaction() {
      if (++attempts === 2) isVoided.resolve();
      return attempts === 2;
    },
  };
  const log = createSqliteLog({ db });
  real.sqlite.run("PRAGMA max_page_count = 1");
  expect(await outcomeOf(log.append("acc_1", entryOf(SECRET)))).toThrow("full");
  expect(attempts).toBe(1);
  await isVoided.promise;
});

test("what follows a transaction that could not be voided begins with another page than that", async () => {
  const real = testDatabase();
  const log = createSqliteLog({ db: { ...real, eraseFailedTransaction: () => false } });
  const mark = () => real.sqlite.query("PRAGMA application_id").values().flat()[0];
  await log.append("acc_1", entryOf("before"));
  expect(mark()).toBe(0);
  real.sqlite.run("PRAGMA max_page_count = 1");
  expect(await outcomeOf(log.append("acc_1", entryOf(SECRET)))).toThrow("full");
  real.sqlite.run("PRAGMA max_page_count = 1000000");
  await log.append("acc_1", entryOf("after"));
  const first = mark();
  expect(first).not.toBe(0);
  await log.append("acc_1", entryOf("and another"));
  expect(mark()).toBe(first);
});

function earlierFolder(fill: (sqlite: Sqlite) => void): string {
  const dataDir = temporaryFolder();
  earlierDatabase(dataDir, fill);
  return dataDir;
}

const addEntry = (sqlite: Sqlite, table: string, written: string | null, removed: string[] = []) =>
  sqlite
    .query<{ seq: number }, [string, Uint8Array | null, string]>(
      "INSERT INTO journal (account_id, written, removed) VALUES (?, ?, ?) RETURNING seq",
    )
    .get(table, written === null ? null : Buffer.from(written), JSON.stringify(removed))?.seq ?? 0;
const addCheckpoint = (sqlite: Sqlite, table: string, leavesOldData = false) =>
  sqlite.run("INSERT INTO checkpoints VALUES (?, 7, ?, ?)", [table, '["data/1"]', +leavesOldData]);

test("what an earlier version wrote is replayed: entries, checkpoints, tables", async () => {
  const dataDir = earlierFolder((sqlite) => {
    addEntry(sqlite, "acc_1", "one");
    addEntry(sqlite, "acc_1", "two", ["mem_1", "mem_1#1", "mem_1#2", "mem_2#1"]);
    addCheckpoint(sqlite, "acc_1");
    addCheckpoint(sqlite, "acc_2.0a0b0c0d");
    sqlite.run("INSERT INTO tables VALUES ('acc_2', 'acc_2.0a0b0c0d', 'new')");
  });
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  expect(await log.entries("acc_1")).toEqual([
    { seq: 1, written: Buffer.from("one"), removed: [], leavesOldData: true },
    { seq: 2, written: Buffer.from("two"), removed: ["mem_1"], leavesOldData: true },
  ]);
  const checkpoint = { version: 7, files: ["data/1"], upTo: 0 };
  expect(await log.head("acc_1")).toEqual({
    ...{ seq: 2, usage: null },
    checkpoint: { base: "acc_1", ...checkpoint },
  });
  expect(await log.head("acc_2.0a0b0c0d")).toEqual({
    ...{ seq: 0, usage: null },
    checkpoint: { base: "acc_2.0a0b0c0d", ...checkpoint },
  });
  expect(await log.unflushed()).toEqual(["acc_1"]);
  // That one is older than the records of models.
  expect(await log.current("acc_1")).toEqual({ name: "acc_1", model: null });
  expect(await log.current("acc_2")).toEqual({ name: "acc_2.0a0b0c0d", model: "new" });
});

test("where an earlier version left something deleted in the files, a flush is due", async () => {
  const dataDir = earlierFolder((sqlite) => {
    addCheckpoint(sqlite, "acc_1", true);
    addCheckpoint(sqlite, "acc_2");
  });
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  expect(await log.unflushed()).toEqual(["acc_1"]);
  const [entry] = await log.entries("acc_1");
  expect(entry).toMatchObject({ written: null, removed: [], leavesOldData: true });
  expect((await log.head("acc_1"))?.seq).toBe(entry?.seq ?? 0);
});

test("entries that an earlier version had cancelled do not come back, and their list goes", async () => {
  const dataDir = earlierFolder((sqlite) => {
    for (const written of ["answered", "refused", "answered too", "refused as the last"]) {
      addEntry(sqlite, "acc_1", written);
    }
    addEntry(sqlite, "acc_2", "refused and alone");
  });
  const list = `${databasePath(dataDir)}-cancelled`;
  writeFileSync(list, new Uint8Array(BigUint64Array.of(0n, 2n, 4n, 5n, 999n, 0n).buffer));
  const log = createSqliteLog({ db: testDatabase(dataDir) });
  const found = await log.entries("acc_1");
  expect(found.map(({ written }) => String(written))).toEqual(["answered", "answered too"]);
  expect((await log.head("acc_1"))?.seq).toBe(3);
  expect((await log.head("acc_2"))?.seq).toBe(0);
  expect(await log.unflushed()).toEqual(["acc_1"]);
  expect(existsSync(list)).toBe(false);
});
