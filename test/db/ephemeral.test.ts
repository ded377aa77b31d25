import { describe, expect, test } from "bun:test";
import { createEphemeral } from "../../src/db/ephemeral.ts";
import { testClock } from "../support/database.ts";
import { DATABASES, testPostgres, testPostgresUrl } from "../support/databases.ts";

const MINUTE = 60_000;

describe.each(DATABASES)("on %s", (_, place) => {
  async function start() {
    const clock = testClock();
    const db = await (await place()).open();
    return { clock, ...createEphemeral({ db, clock }) };
  }

  test("a value is taken once, by its exact key", async () => {
    const { put, take } = await start();
    await put("key", "first", MINUTE);
    await put("key", "värde \u{1f511}", MINUTE);
    expect(await take("other")).toBeNull();
    const takings = await Promise.all([take("key"), take("key"), take("key")]);
    expect(takings.filter((value) => value !== null)).toEqual(["värde \u{1f511}"]);
    expect(await take("key")).toBeNull();
  });

  test("a value expires", async () => {
    const { put, take, clock } = await start();
    await put("early", "x", MINUTE);
    clock.advance(MINUTE - 1);
    expect(await take("early")).toBe("x");
    await put("late", "x", MINUTE);
    clock.advance(MINUTE);
    expect(await take("late")).toBeNull();
  });

  test("a key is added once until it expires", async () => {
    const { add, clock } = await start();
    const additions = await Promise.all([add("use", MINUTE), add("use", MINUTE)]);
    expect(additions.sort()).toEqual([false, true]);
    expect(await add("other", MINUTE)).toBe(true);
    clock.advance(MINUTE - 1);
    expect(await add("use", MINUTE)).toBe(false);
    clock.advance(1);
    expect(await add("use", MINUTE)).toBe(true);
  });

  test("tries are regained one by one, and each key has its own", async () => {
    const { limit, clock } = await start();
    const { take } = limit("doors", { tries: 3, period: 3 * MINUTE });
    expect([await take("a"), await take("a"), await take("a")]).toEqual([null, null, null]);
    expect([await take("a"), await take("b")]).toEqual([60, null]);
    clock.advance(MINUTE / 2);
    expect(await take("a")).toBe(30);
    clock.advance(MINUTE / 2);
    expect([await take("a"), await take("a")]).toEqual([null, 60]);
    clock.advance(60 * MINUTE);
    expect([await take("a"), await take("a"), await take("a")]).toEqual([null, null, null]);
    expect(await take("a")).toBe(60);
  });

  test("a returned try can be used again, and no key exceeds its limit", async () => {
    const { limit } = await start();
    const { take, giveBack } = limit("doors", { tries: 2, period: 2 * MINUTE });
    await giveBack("a");
    expect([await take("a"), await take("a"), await take("a")]).toEqual([null, null, 60]);
    await giveBack("a");
    expect([await take("a"), await take("a")]).toEqual([null, 60]);
  });

  test("a clock that is set back does not permanently use up tries", async () => {
    const { limit, clock } = await start();
    const { take } = limit("doors", { tries: 2, period: 2 * MINUTE });
    await take("a");
    clock.advance(-60 * MINUTE);
    expect(await take("a")).toBeNull();
    clock.advance(2 * MINUTE);
    expect([await take("a"), await take("a")]).toEqual([null, null]);
  });

  test("limits with different names are independent", async () => {
    const { limit } = await start();
    const options = { tries: 1, period: MINUTE };
    expect(await limit("one", options).take("a")).toBeNull();
    expect(await limit("other", options).take("a")).toBeNull();
  });
});

describe("servers of one PostgreSQL", () => {
  async function twoServers() {
    const url = await testPostgresUrl();
    const clock = testClock();
    const [one, other] = [await testPostgres(url), await testPostgres(url)];
    const servers = [one, other].map((db) => createEphemeral({ db, clock }));
    const [first, second] = servers;
    if (!first || !second) throw new Error("there are two");
    return { first, second, db: one, clock };
  }

  test("share values and keys", async () => {
    const { first, second } = await twoServers();
    await first.put("key", "value", MINUTE);
    expect(await second.take("key")).toBe("value");
    expect([await second.add("use", MINUTE), await first.add("use", MINUTE)]).toEqual([
      true,
      false,
    ]);
  });

  test("share one limit, also for concurrent requests", async () => {
    const { first, second } = await twoServers();
    const limit = { tries: 5, period: 5 * MINUTE };
    const doors = [first.limit("doors", limit), second.limit("doors", limit)];
    const takings = Array.from({ length: 6 }, () => doors.map(({ take }) => take("a"))).flat();
    const waits = await Promise.all(takings);
    expect(waits.filter((wait) => wait === null)).toHaveLength(5);
    await doors[0]?.giveBack("a");
    expect([await doors[1]?.take("a"), await doors[1]?.take("a")]).toEqual([null, 60]);
  });

  test("store neither plain keys nor plain values", async () => {
    const { first, db } = await twoServers();
    await first.put("the session's secret", "ctx_an_api_key", MINUTE);
    await first.add("an assertion", MINUTE);
    await first.limit("doors", { tries: 1, period: MINUTE }).take("192.0.2.1");
    const rows = JSON.stringify(await db.postgres.query("SELECT * FROM ephemeral"));
    for (const secret of ["session", "ctx_an", "assertion", "192.0.2.1"]) {
      expect(rows).not.toContain(secret);
    }
  });

  test("remove expired rows", async () => {
    const { first, db, clock } = await twoServers();
    await first.put("a", "x", MINUTE);
    await first.add("b", MINUTE);
    clock.advance(5 * MINUTE);
    await first.add("c", MINUTE);
    expect(await db.postgres.query("SELECT key FROM ephemeral")).toHaveLength(1);
  });
});
