import { afterAll, beforeAll, expect, test } from "bun:test";
import { DatabaseUnavailable, OutcomeUnknown, sqlState } from "../../src/db/database-error.ts";
import { connectPostgres, type Postgres } from "../../src/db/postgres.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";

/** Milliseconds that a statement may wait. Tests of an outage wait this long. */
const TIMEOUT_MS = 1_000;

let server: PostgresServer;
let db: Postgres;
beforeAll(async () => {
  server = await startPostgres();
  db = connectPostgres(server.urlOf("postgres"), { sessions: 3, timeoutMs: TIMEOUT_MS });
  await db.script(
    "CREATE TABLE kept (id bigint PRIMARY KEY, bytes bytea); CREATE TABLE notes (text text);",
  );
}, 120_000);
afterAll(async () => {
  await db.close();
  await server.close();
});

const failureOf = (task: Promise<unknown>): Promise<unknown> =>
  task.then(
    () => null,
    (error) => error,
  );
const countNotes = async () => (await db.rows("SELECT count(*) FROM notes"))[0]?.[0];

test("integers are numbers and bytes are bytes, in lists and in objects", async () => {
  const bytes = new Uint8Array([9, 0, 255, 1]).subarray(1);
  const [row] = await db.rows("INSERT INTO kept VALUES ($1, $2) RETURNING id, bytes", [
    2 ** 52,
    bytes,
  ]);
  expect(row).toEqual([2 ** 52, Buffer.from([0, 255, 1])]);
  expect(await db.query("SELECT id, bytes, count(*) OVER () AS n FROM kept")).toEqual([
    { id: 2 ** 52, bytes: Buffer.from([0, 255, 1]), n: 1 },
  ]);
  expect(await db.rows("SELECT '12', NULL, true, 1.5::float8")).toEqual([["12", null, true, 1.5]]);
});

test("an error that the statement caused keeps its code", async () => {
  await db.rows("INSERT INTO kept VALUES (1, NULL)");
  const error = await failureOf(db.rows("INSERT INTO kept VALUES (1, NULL)"));
  expect(sqlState(new Error("of a layer above", { cause: error }))).toBe("23505");
  expect(error).not.toBeInstanceOf(DatabaseUnavailable);
});

test("a transaction is atomic, and releases its session", async () => {
  const before = await countNotes();
  for (let round = 0; round < 5; round++) {
    const failed = db.transaction(async (tx) => {
      await tx.rows("INSERT INTO notes VALUES ('undone')");
      throw new Error("by the task");
    });
    expect(await failureOf(failed)).toEqual(new Error("by the task"));
  }
  expect(await countNotes()).toBe(before);
  const made = db.transaction(async (tx) => {
    await tx.rows("INSERT INTO notes VALUES ('kept')");
    return await tx.rows("SELECT text FROM notes");
  });
  expect(await made).toEqual([["kept"]]);
});

test("a transaction whose connection breaks has no effect", async () => {
  const before = await countNotes();
  const cut = db.transaction(async (tx) => {
    await tx.rows("INSERT INTO notes VALUES ('before')");
    const [[pid] = []] = await tx.rows("SELECT pg_backend_pid()");
    await db.rows("SELECT pg_terminate_backend($1, 5000)", [pid]);
    await failureOf(tx.rows("INSERT INTO notes VALUES ('after')"));
    await tx.rows("INSERT INTO notes VALUES ('later')");
  });
  expect(await failureOf(cut)).toBeInstanceOf(DatabaseUnavailable);
  expect(await countNotes()).toBe(before);
});

test("more statements than sessions wait for their turn", async () => {
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  const rows = await Promise.all(numbers.map((n) => db.rows("SELECT $1::int", [n])));
  expect(rows.flat(2)).toEqual(numbers);
});

test("a statement that takes too long is cancelled", async () => {
  const slow = "INSERT INTO notes SELECT 'slow' FROM pg_sleep(30)";
  const error = await failureOf(db.rows(slow));
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect(error).not.toBeInstanceOf(OutcomeUnknown);
  expect(await db.rows("SELECT 1 FROM notes WHERE text = 'slow'")).toEqual([]);
});

test("waits for a hanging server end, and the server is used again when it answers", async () => {
  await Promise.all([1, 2, 3].map(() => db.rows("SELECT pg_sleep(0.01)")));
  server.pause();
  try {
    const writes = [1, 2, 3].map(() => failureOf(db.rows("INSERT INTO notes VALUES ('hung')")));
    for (const error of await Promise.all(writes)) expect(error).toBeInstanceOf(OutcomeUnknown);
    const reads = [1, 2, 3, 4].map(() => failureOf(db.rows("SELECT 1")));
    for (const error of await Promise.all(reads)) expect(error).toBeInstanceOf(DatabaseUnavailable);
  } finally {
    server.resume();
  }
  expect(await db.rows("SELECT 1")).toEqual([[1]]);
});

test("a stopped or killed server is used again when it runs", async () => {
  for (const end of [server.stop, server.kill]) {
    await Promise.all([1, 2, 3].map(() => db.rows("SELECT pg_sleep(0.01)")));
    const cut = failureOf(db.rows("INSERT INTO notes SELECT 'cut' FROM pg_sleep(0.8)"));
    await end();
    expect(await cut).toBeInstanceOf(DatabaseUnavailable);
    expect(await failureOf(db.rows("SELECT 1"))).toBeInstanceOf(DatabaseUnavailable);
    await server.start();
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => db.rows("SELECT 1")));
    expect(all.flat(2)).toEqual([1, 1, 1, 1, 1]);
  }
});

test("a wrong password is reported as unavailable, with the cause for the log", async () => {
  const wrong = connectPostgres(`postgres://postgres:wrong@127.0.0.1:${server.port}/postgres`);
  const error = await failureOf(wrong.rows("SELECT 1"));
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect(sqlState(error)).toBe("28P01");
  await wrong.close();
});
