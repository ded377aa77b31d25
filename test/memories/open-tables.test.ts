import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/database.ts";
import type { OnStep } from "../../src/memories/base/bases.ts";
import { DUE } from "../../src/memories/flush.ts";
import type { Store } from "../../src/memories/store.ts";
import type { KeptTable } from "../../src/memories/table.ts";
import { temporaryFolder } from "../support/database.ts";
import { HASTY, openData } from "../support/live-data.ts";

const ACCOUNTS = ["acc_1", "acc_2", "acc_3"];

const isLoaded = (store: Store, accountId: string) =>
  store.use(accountId, async ({ table }) => {
    const { view, base } = table as KeptTable;
    return { hasView: view.current !== null, isFilling: view.isFilling, base: base.current };
  });

test("large tables that are searched at once are not all read into memory when there is room for one", async () => {
  const dataDir = temporaryFolder();
  {
    await using data = await openData(dataDir, HASTY, undefined, { room: 0 });
    for (const accountId of ACCOUNTS) {
      const notes = Array.from({ length: 60 }, (_, n) => ({ content: `note number${n}` }));
      await data.memories.create(accountId, notes);
    }
    const isIndexed = async (accountId: string) =>
      (await isLoaded(data.store, accountId)).base?.isIndexed === true;
    for (const accountId of ACCOUNTS) while (!(await isIndexed(accountId))) await Bun.sleep(20);
  }
  // About 43,000 each.
  await using data = await openData(dataDir, HASTY, undefined, { room: 60_000 });
  const request = { query: "number7", mode: "hybrid" as const, limit: 3, filter: {}, minScore: 0 };
  await Promise.all(ACCOUNTS.map((accountId) => isLoaded(data.store, accountId)));
  await Promise.all(ACCOUNTS.map((accountId) => data.memories.search(accountId, request)));
  const states = () => Promise.all(ACCOUNTS.map((accountId) => isLoaded(data.store, accountId)));
  while ((await states()).some(({ isFilling }) => isFilling)) await Bun.sleep(5);
  expect((await states()).filter(({ hasView }) => hasView)).toHaveLength(1);
});

test("what is flushed when the store closes is not an account that was removed meanwhile", async () => {
  const dataDir = temporaryFolder();
  const [first = "", second = ""] = ACCOUNTS;
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const step: OnStep = async (name) => {
    if (name !== "base kept") return;
    reached.resolve();
    await gate.promise;
  };
  const data = await openData(dataDir, DUE, undefined, { step });
  for (const accountId of [first, second]) {
    await data.memories.create(accountId, [{ content: "a note" }]);
  }
  const closing = data.store.close();
  await reached.promise;
  await data.store.drop(second);
  gate.resolve();
  await closing;
  expect(await data.log.tables()).toEqual([first]);
  expect(await data.storage.vault.bases()).toHaveLength(1);
  data.db.close();
});

test("what was dropped from the log before the start leaves the files when a backup that reads them ends", async () => {
  const dataDir = temporaryFolder();
  const isInDatabase = () =>
    readdirSync(dataDir)
      .filter((name) => name.startsWith("ctxd.db"))
      .some((name) => readFileSync(join(dataDir, name)).includes("remarkable"));
  const backup = new Sqlite(databasePath(dataDir), { create: true });
  {
    await using data = await openData(dataDir, HASTY);
    await data.memories.create("acc_1", [{ content: "a remarkable note" }]);
    backup.run("BEGIN");
    backup.query("SELECT count(*) FROM journal").get();
    while ((await data.log.size()) > 0) await Bun.sleep(10);
  }
  await using data = await openData(dataDir, HASTY);
  expect(await data.log.size()).toBe(0);
  expect(isInDatabase()).toBe(true);
  backup.run("COMMIT");
  while (isInDatabase()) await Bun.sleep(20);
  backup.close();
});
