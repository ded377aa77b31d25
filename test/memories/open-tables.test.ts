import { expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

test("tables that were written to are closed soon, however many accounts write at once", async () => {
  await using server = await startServer();
  const accounts = await Promise.all(Array.from({ length: 200 }, () => server.account()));
  const openTables = async () => {
    const text = await (await fetch(`${server.origin}/api/metrics`)).text();
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
  expect(most).toBeWithin(64, 129);
  for (const n of [0, 60, 130, 199]) {
    const page = await accounts[n]?.list();
    expect(contentsOf(page?.memories ?? [])).toEqual([`number ${n}`]);
  }
}, 120_000);
