import { expect, test } from "bun:test";
import { connectPostgres } from "../../src/db/postgres.ts";
import { measurePostgres } from "../../src/db/postgres-database.ts";
import { createMetrics } from "../../src/metrics.ts";
import { outcomeOf } from "../support/outcome.ts";
import { sharedPostgres } from "../support/postgres.ts";

test("statements are counted by their result", async () => {
  await using database = await (await sharedPostgres()).database();
  const metrics = createMetrics();
  const postgres = measurePostgres(connectPostgres(database.url), metrics);
  const countOf = async (operation: string, result: string) => {
    const name = "ctxd_database_request_duration_seconds_count";
    const line = `${name}{operation="${operation}",result="${result}"} `;
    const found = (await metrics.text()).split("\n").find((each) => each.startsWith(line));
    return Number(found?.slice(line.length) ?? 0);
  };

  expect(await postgres.rows("select 1::int")).toEqual([[1]]);
  expect(await postgres.query<{ n: number }>("select 2::int as n")).toEqual([{ n: 2 }]);
  expect(await outcomeOf(postgres.rows("select nothing"))).toThrow("nothing");
  await postgres.transaction((tx) => tx.rows("select 1"));
  expect(await countOf("statement", "ok")).toBe(2);
  expect(await countOf("transaction", "ok")).toBe(1);
  await postgres.close();
  await postgres.rows("select 1").catch(() => {});
  expect(await countOf("statement", "failed")).toBe(1);
  expect(await countOf("statement", "unreachable")).toBe(1);
});
