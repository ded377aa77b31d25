import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createAccountTables } from "../../src/accounts/tables.ts";
import type { Orm } from "../../src/db/database.ts";
import { constraintViolation } from "../../src/db/database-error.ts";
import { createMutex } from "../../src/db/mutex.ts";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { createKeyTables } from "../../src/keys/tables.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";

const row = (id: string) => ({
  id,
  email: `${id}@example.com`,
  passwordHash: "a secret of this row",
  role: "member" as const,
  createdAt: new Date(0),
});

/** A database, and functions to add and list accounts. */
function start(db: SqliteDatabase = testDatabase()) {
  const { accounts } = db.tables(createAccountTables);
  const add = async (orm: Orm, id: string) => void (await orm.insert(accounts).values(row(id)));
  const ids = async () => (await db.orm.select().from(accounts)).map(({ id }) => id);
  return { db, accounts, add, ids };
}

test("a transaction that fails after a wait changes nothing", async () => {
  const { db, add, ids } = start();
  const failing = db.transaction(async (tx) => {
    await add(tx, "one");
    await Bun.sleep(1);
    throw new Error("broken");
  });
  expect(await outcomeOf(failing)).toThrow("broken");
  expect(await ids()).toEqual([]);
});

test("statements during a failing transaction run after it and stay", async () => {
  const { db, add, ids } = start();
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const failing = db.transaction(async (tx) => {
    await add(tx, "one");
    begun.resolve();
    await Bun.sleep(1);
    order.push("end");
    throw new Error("broken");
  });
  await begun.promise;
  const others = [
    add(db.orm, "two").then(() => order.push("statement")),
    db.transaction((tx) => add(tx, "three")).then(() => order.push("transaction")),
    db.exclusively(() => order.push(db.sqlite.inTransaction ? "inside" : "exclusive")),
    db.attempt((tx) => add(tx, "four")).then(() => order.push("attempt")),
  ];
  expect(await outcomeOf(failing)).toThrow("broken");
  await Promise.all(others);
  expect(order[0]).toBe("end");
  expect(order.sort()).toEqual(["attempt", "end", "exclusive", "statement", "transaction"]);
  expect((await ids()).sort()).toEqual(["four", "three", "two"]);
});

test("without a transaction a task has run when the call returns", () => {
  const { db } = start();
  let hasRun = false;
  void db.exclusively(() => {
    hasRun = true;
  });
  expect(hasRun).toBe(true);
});

test("an ended transaction refuses statements", async () => {
  const { db, add, ids } = start();
  let late = db.orm;
  await db.transaction(async (tx) => {
    late = tx;
  });
  expect(await outcomeOf(add(late, "late"))).toThrow("over");
  expect(await ids()).toEqual([]);
});

test("a transaction that a full disk ended refuses later statements", async () => {
  const { db, add, ids } = start();
  db.sqlite.run("CREATE TABLE probe (bytes BLOB)");
  const failing = db.transaction(async (tx) => {
    await add(tx, "one");
    db.sqlite.run("PRAGMA max_page_count = 1");
    expect(() => db.sqlite.run("INSERT INTO probe VALUES (zeroblob(10000000))")).toThrow("full");
    db.sqlite.run("PRAGMA max_page_count = 1000000");
    await add(tx, "two");
  });
  expect(await outcomeOf(failing)).toThrow("over");
  expect(await ids()).toEqual([]);
});

test("a statement that waits for its own transaction fails after the time limit", async () => {
  const mutex = createMutex(10);
  const stuck = mutex.hold(async () => mutex.whenFree(() => "never"));
  expect(await outcomeOf(stuck)).toThrow("does not end");
  expect(await mutex.hold(async () => "next")).toBe("next");
});

test("constraint violations are recognized, and errors do not repeat the values", async () => {
  const { db, accounts, add } = start();
  const { apiKeys } = db.tables(createKeyTables);
  const failureOf = async (query: PromiseLike<unknown>) => {
    try {
      await query;
    } catch (error) {
      return error;
    }
  };
  await add(db.orm, "one");
  const again = await failureOf(add(db.orm, "one"));
  expect(constraintViolation(again)).toBe("unique");
  expect(Bun.inspect(again, { depth: 9 })).not.toContain("@example.com");
  const same = { ...row("two"), email: "one@example.com" };
  expect(constraintViolation(await failureOf(db.orm.insert(accounts).values(same)))).toBe("unique");
  const key = { id: "key", accountId: "nobody", hash: "h", prefix: "p", name: "n", scopes: [] };
  const orphan = db.orm.insert(apiKeys).values({ ...key, createdAt: new Date(0) });
  expect(constraintViolation(await failureOf(orphan))).toBe("foreign key");
  expect(constraintViolation(new Error("another"))).toBeNull();
});

test("table declarations are created once for a database", () => {
  const { db } = start();
  expect(db.tables(createAccountTables)).toBe(db.tables(createAccountTables));
});

test("a database whose file was removed is not reachable", async () => {
  const { db } = start(testDatabase(temporaryFolder()));
  expect(await db.isReachable()).toBe(true);
  await Bun.file(db.sqlite.filename).delete();
  expect(await db.isReachable()).toBe(false);
});

test("a prepared query sees changes of other connections", async () => {
  const dataDir = temporaryFolder();
  const { db, accounts } = start(testDatabase(dataDir));
  const other = start(testDatabase(dataDir));
  const found = db.orm.select().from(accounts).where(eq(accounts.id, "one")).prepare();
  expect(await found.execute()).toHaveLength(0);
  await other.add(other.db.orm, "one");
  expect(await found.execute()).toHaveLength(1);
});
