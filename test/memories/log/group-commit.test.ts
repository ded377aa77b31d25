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
