import { expect, test } from "bun:test";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { createGroupCommit } from "../../../src/memories/log/group-commit.ts";
import { testDatabase } from "../../support/database.ts";

test("changes whose turn does not come fail, and later ones are made", async () => {
  const db = testDatabase();
  const orm = drizzle({ client: db.sqlite });
  let isStuck = true;
  const exclusively: typeof db.exclusively = (task) =>
    isStuck ? Promise.reject(new Error("no turn")) : db.exclusively(task);
  const commit = createGroupCommit({ ...db, exclusively }, orm);
  const refused = await Promise.allSettled([commit(() => "one"), commit(() => "two")]);
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isStuck = false;
  expect(await commit(() => "three")).toBe("three");
});

test("a group of large changes leaves the rest to further groups", async () => {
  const db = testDatabase();
  const orm = drizzle({ client: db.sqlite });
  const commit = createGroupCommit(db, orm);
  const transactions: number[] = [];
  const begin = orm.transaction.bind(orm);
  orm.transaction = (work, options) => {
    transactions.push(0);
    return begin(work, options);
  };
  const change = (n: number) => () => {
    transactions[transactions.length - 1] = (transactions.at(-1) ?? 0) + 1;
    return n;
  };
  const sizes = [0, 3 << 20, 3 << 20, 3 << 20, 9 << 20, 0];
  const done = await Promise.all(sizes.map((bytes, n) => commit(change(n), bytes)));
  expect(done).toEqual([0, 1, 2, 3, 4, 5]);
  expect(transactions).toEqual([3, 2, 1]);
});
