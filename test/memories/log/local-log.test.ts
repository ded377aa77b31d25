import { expect, test } from "bun:test";
import { databasePath } from "../../../src/db/data-lock.ts";
import { openSqlite } from "../../../src/db/sqlite.ts";
import { createSqliteLog } from "../../../src/memories/log/sqlite-log.ts";
import { afterThisTest, temporaryFolder } from "../../support/database.ts";
import { checkpointOf, entryOf, recordBase, text } from "./log-under-test.ts";

/** A log in SQLite, which can be opened again after a crash. */
function localLog() {
  const path = databasePath(temporaryFolder());
  let db = openSqlite(path);
  afterThisTest(() => db.close());
  const state = {
    log: createSqliteLog({ db }),
    reopen() {
      db.sqlite.close();
      db = openSqlite(path);
      state.log = createSqliteLog({ db });
    },
    textsOf: async (table: string) =>
      (await state.log.entries(table)).map(({ written }) => text(written)),
  };
  return state;
}

test("a table is unflushed as long as no checkpoint includes its newest entry", async () => {
  const { log } = localLog();
  const first = await log.append("acc_1", entryOf("one"));
  await log.append("acc_2", entryOf("of another"));
  const second = await log.append("acc_1", entryOf("two"));
  await recordBase(log, "acc_1", checkpointOf(first));
  expect((await log.unflushed()).sort()).toEqual(["acc_1", "acc_2"]);
  await recordBase(log, "acc_1", checkpointOf(second, "acc_1.ffffffff", 7));
  expect(await log.unflushed()).toEqual(["acc_2"]);
});

test("a forgotten table leaves no records, and others keep theirs", async () => {
  const state = localLog();
  for (const table of ["acc_1", "acc_1.0a0b0c0d", "acc_2"]) {
    const upTo = await state.log.append(table, entryOf("one"));
    await recordBase(state.log, table, checkpointOf(upTo, `${table}.0a0b0c0d`));
    await state.log.append(table, entryOf("two"));
  }
  await state.log.setCurrent("acc_1", { name: "acc_1", model: "m" });
  await state.log.setCurrent("acc_2", { name: "acc_2", model: "m" });
  await state.log.forget(["acc_1", "acc_1.0a0b0c0d"]);
  state.reopen();
  expect(await state.log.tables()).toEqual(["acc_2"]);
  expect(await state.log.unflushed()).toEqual(["acc_2"]);
  expect(await state.log.head("acc_1")).toBeNull();
  expect(await state.textsOf("acc_1")).toEqual([]);
  expect(await state.log.current("acc_1")).toBeNull();
  expect(await state.textsOf("acc_2")).toEqual(["two"]);
  expect(await state.log.current("acc_2")).toEqual({ name: "acc_2", model: "m" });
  await state.log.forget([]);
  expect(await state.log.tables()).toEqual(["acc_2"]);
});

test("likenesses are recorded of a table from its first entry until it is forgotten", async () => {
  const { log } = localLog();
  const found = [{ later: "mem_2", earlier: "mem_1", kind: "same", changedAt: 1 }] as const;
  const record = () => log.likenesses.record("acc_1", found, { comparedTo: null }, null);
  expect(await record()).toBe(false);
  await log.append("acc_1", entryOf("one"));
  expect(await record()).toBe(true);
  expect(await log.likenesses.all("acc_1")).toEqual([...found]);
  await log.forget(["acc_1"]);
  expect(await record()).toBe(false);
  expect(await log.likenesses.all("acc_1")).toEqual([]);
});

test("another table replaces an account's current one", async () => {
  const state = localLog();
  expect(await state.log.current("acc_1")).toBeNull();
  await state.log.setCurrent("acc_1", { name: "acc_1", model: "old" });
  await state.log.append("acc_1", entryOf("one"));
  await state.log.setCurrent("acc_1", { name: "acc_1", model: "corrected" });
  expect(await state.textsOf("acc_1")).toEqual(["one"]);
  await state.log.append("acc_1.0a0b0c0d", entryOf("two"));
  await state.log.setCurrent("acc_1", { name: "acc_1.0a0b0c0d", model: "new" });
  state.reopen();
  expect(await state.log.current("acc_1")).toEqual({ name: "acc_1.0a0b0c0d", model: "new" });
  expect(await state.textsOf("acc_1.0a0b0c0d")).toEqual(["two"]);
  await state.log.forget(["acc_1"]);
  expect(await state.log.tables()).toEqual(["acc_1.0a0b0c0d"]);
  expect(await state.log.current("acc_1")).toEqual({ name: "acc_1.0a0b0c0d", model: "new" });
  await state.log.setCurrent("acc_2", { name: "acc_2", model: "new" });
  expect((await state.log.allCurrent()).map(({ accountId, name }) => [accountId, name])).toEqual([
    ["acc_1", "acc_1.0a0b0c0d"],
    ["acc_2", "acc_2"],
  ]);
});
