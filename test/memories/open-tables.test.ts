import { expect, test } from "bun:test";
import { createPool, openedTable } from "../../src/memories/store/pool.ts";
import type { PooledTable } from "../../src/memories/store/pooled-table.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

test("with more room for views, more tables stay open", async () => {
  await using server = await startServer({ viewMemory: 2 ** 31 });
  const owner = await server.account();
  const accounts = await Promise.all(Array.from({ length: 64 }, () => server.account()));
  for (const account of accounts) await account.list();
  const headers = { authorization: `Bearer ${owner.key}` };
  const text = await (await fetch(`${server.origin}/api/metrics`, { headers })).text();
  expect(Number(/^ctxd_open_tables (\d+)$/m.exec(text)?.[1])).toBe(64);
});

test("the number of open tables is limited while many accounts write and read", async () => {
  await using server = await startServer();
  // The first account is the owner's, who may read metrics.
  const owner = await server.account();
  const others = Array.from({ length: 129 }, () => server.account());
  const accounts = [owner, ...(await Promise.all(others))];
  const openTables = async () => {
    const headers = { authorization: `Bearer ${owner.key}` };
    const text = await (await fetch(`${server.origin}/api/metrics`, { headers })).text();
    return Number(/^ctxd_open_tables (\d+)$/m.exec(text)?.[1]);
  };
  let most = 0;
  const todo = accounts.entries();
  const write = async () => {
    for (const [n, account] of todo) {
      await account.save({ content: `number ${n}` });
      most = Math.max(most, await openTables());
    }
  };
  await Promise.all(Array.from({ length: 8 }, write));
  expect(most).toBeWithin(48, 97);
  // Reads cause no chores, after which tables are closed.
  const pages = await Promise.all(accounts.map((account) => account.list()));
  const contents = pages.map(({ memories }) => contentsOf(memories));
  expect(contents).toEqual(accounts.map((_, n) => [`number ${n}`]));
  expect(await openTables()).toBeLessThan(97);
});

test("requests do not wait long for a table that is being opened, and later ones use it", async () => {
  const table = {} as PooledTable;
  const opening = Promise.withResolvers<PooledTable>();
  let openings = 0;
  const open = () => {
    openings++;
    return opening.promise;
  };
  const pool = createPool(open, async () => {});
  const use = (limit: number) => pool.use("acc_1", async (item) => await openedTable(item, limit));
  const refused = await use(1).catch((error) => error);
  expect(refused).toMatchObject({ code: "unavailable", retryAfter: 5 });
  const waiting = use(60_000);
  opening.resolve(table);
  expect(await waiting).toBe(table);
  expect(await use(0)).toBe(table);
  expect(openings).toBe(1);
});
