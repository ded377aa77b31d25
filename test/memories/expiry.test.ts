import { afterAll, describe, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Expiry } from "../../src/memories/background/expiry.ts";
import type { NewMemory } from "../../src/memories/model/memory.ts";
import { filesWith, untilGone } from "../crash/traces.ts";
import { storedMemory } from "../support/bases.ts";
import { contentsOf } from "../support/client.ts";
import { temporaryFolder, testClock } from "../support/database.ts";
import { expectError } from "../support/errors.ts";
import { openKeptTable, tableStorage } from "../support/kept-table.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { startServer } from "../support/server.ts";
import { createReplicas } from "../support/shared-stores.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;
/** Removes expired memories at once, whatever the clock does. */
const SOON: Expiry = {
  every: 20,
  jump: Number.POSITIVE_INFINITY,
  restAfterJump: 0,
  retryAfter: 50,
};
/** Removes nothing while a test runs. */
const NEVER: Expiry = { ...SOON, every: 1e9 };
const PATIENCE = 30_000;

const hidden = await startServer({ expiry: NEVER });
afterAll(hidden.close);

describe("an expired memory", () => {
  test("is in no answer before it is removed", async () => {
    const ada = await hidden.account();
    const expires_at = new Date(hidden.clock() + HOUR).toISOString();
    const old = await ada.save({ content: "The office is closed", tags: ["x"] });
    const { id } = await ada.save({
      content: "The office is open until Friday",
      tags: ["x"],
      expires_at,
      supersedes: old.id,
    });
    const near = await ada.save({ content: "The office is open until Friday!", tags: ["x"] });
    const answers = async () => {
      const lists = [
        (await ada.list({ include_superseded: "true" })).memories,
        ...(await Promise.all(
          ["hybrid", "semantic", "keyword"].map((mode) => ada.search("office Friday", { mode })),
        )),
      ];
      const { body } = await ada.send("GET", `/memories/${old.id}/history`);
      const headers = { authorization: `Bearer ${ada.key}` };
      const exported = await fetch(`${hidden.origin}/api/memories/export`, { headers });
      const inText = [JSON.stringify(body), await exported.text()].map((text) =>
        text.includes(`"id":"${id}"`),
      );
      return [...lists.map((list) => list.some((memory) => memory.id === id)), ...inText];
    };
    hidden.clock.advance(HOUR - 1);
    expect(await answers()).toEqual(Array(6).fill(true));
    hidden.clock.advance(1);
    expect(await answers()).toEqual(Array(6).fill(false));
    for (const [method, path, json] of [
      ["GET", `/memories/${id}`],
      ["GET", `/memories/${id}/history`],
      ["PUT", `/memories/${id}`, { expires_at: null }],
      ["DELETE", `/memories/${id}`],
      ["DELETE", `/memories/${id}?history=true`],
    ] as const) {
      const answer = await ada.send(method, path, { json });
      expectError(answer, { status: 404, code: "memory_not_found" });
    }
    const like = await ada.send("POST", "/memories?similar=true", {
      json: { content: "The office is open until Friday" },
    });
    expect(like.body).toMatchObject({ similar: [{ id: near.id }] });
    expect(await ada.removeMatching({ tags: "x" })).toBe(2);
    // The memory is still stored.
    expect(await hidden.log.head(ada.accountId)).toMatchObject({ usage: { memories: 2 } });
  });
});

/** A closed data folder with memories of one account. */
async function storedData(...memories: NewMemory[]) {
  const dataDir = temporaryFolder();
  const clock = testClock();
  await using data = await openData(dataDir, HASTY, undefined, { clock, expiry: NEVER });
  const { id } = await data.accounts.add({ email: "ada@example.com", password: null });
  const saved = await data.memories.saveAll(wholeAccount(id), memories);
  return { dataDir, clock, id, saved, reach: wholeAccount(id) };
}
const inHours = (hours: number) => new Date(testClock()() + hours * HOUR).toISOString();
const list = { filter: {}, limit: 10 };

describe("removing expired memories", () => {
  test("leaves no trace, also in accounts without requests and after a restart", async () => {
    const { dataDir, clock, id, reach } = await storedData(
      { content: "kumquat", expires_at: inHours(1) },
      { content: "rambutan", expires_at: inHours(3) },
      { content: "other" },
    );
    const options = { clock, expiry: SOON };
    expect(filesWith(dataDir, ["kumquat"])).not.toEqual([]);
    {
      clock.advance(2 * HOUR);
      await using data = await openData(dataDir, HASTY, undefined, options);
      expect(await untilGone(dataDir, ["kumquat"], PATIENCE)).toEqual([]);
      expect(await data.log.head(id)).toMatchObject({ usage: { memories: 2 } });
    }
    {
      await using data = await openData(dataDir, HASTY, undefined, options);
      expect(filesWith(dataDir, ["rambutan"])).not.toEqual([]);
      clock.advance(2 * HOUR);
      expect(await untilGone(dataDir, ["rambutan"], PATIENCE)).toEqual([]);
      expect(contentsOf((await data.memories.list(reach, list)).memories)).toEqual(["other"]);
    }
  });

  test("goes by the current expiry, not by an earlier one", async () => {
    const { dataDir, clock, id, saved, reach } = await storedData(
      { content: "a", expires_at: inHours(1) },
      { content: "b", expires_at: inHours(1) },
      { content: "c", expires_at: inHours(1) },
    );
    await using data = await openData(dataDir, HASTY, undefined, { clock, expiry: SOON });
    const [a, b] = saved;
    await data.memories.update(reach, a?.id ?? "", { expires_at: inHours(3) });
    await data.memories.update(reach, b?.id ?? "", { expires_at: null });
    clock.advance(2 * HOUR);
    const left = (memories: number) => async () =>
      (await data.log.head(id))?.usage?.memories === memories;
    await until("what has expired is forgotten", left(2));
    const { memories } = await data.memories.list(reach, list);
    expect(contentsOf(memories).toSorted()).toEqual(["a", "b"]);
    clock.advance(2 * HOUR);
    await until("so is what was given more time", left(1));
  });

  test("makes the memory that an expired one superseded current again", async () => {
    const { dataDir, clock, saved, reach } = await storedData({ content: "Sam is in Lisbon" });
    await using data = await openData(dataDir, HASTY, undefined, { clock, expiry: SOON });
    const [home] = saved;
    await data.memories.saveAll(reach, [
      { content: "Sam is in Oslo", supersedes: home?.id ?? null, expires_at: inHours(1) },
    ]);
    const known = async () =>
      contentsOf(
        (await data.memories.list(reach, { ...list, filter: { isCurrent: true } })).memories,
      );
    expect(await known()).toEqual(["Sam is in Oslo"]);
    clock.advance(HOUR);
    await until("Sam is at home again", async () => (await known())[0] === "Sam is in Lisbon");
  });

  test("goes on with other accounts when one can't be opened", async () => {
    const { dataDir, clock, id } = await storedData({ content: "x", expires_at: inHours(1) });
    clock.advance(2 * HOUR);
    let isBroken = true;
    await using data = await openData(dataDir, HASTY, undefined, {
      clock,
      expiry: SOON,
      wrapLog: (log) => ({
        ...log,
        async entries(table) {
          if (isBroken && table === id) throw new Error("the disk reports an error");
          return await log.entries(table);
        },
      }),
    });
    const other = await data.accounts.add({ email: "bob@example.com", password: null });
    const expires_at = inHours(3);
    await data.memories.saveAll(wholeAccount(other.id), [{ content: "y", expires_at }]);
    clock.advance(2 * HOUR);
    const count = async (account: string) => (await data.log.head(account))?.usage?.memories;
    await until("the other account's removal", async () => (await count(other.id)) === 0);
    expect(await count(id)).toBe(1);
    isBroken = false;
    await until("the first account's removal", async () => (await count(id)) === 0);
  });

  test("waits for a while after the clock has jumped ahead", async () => {
    const { dataDir, clock, id, reach } = await storedData({
      content: "x",
      expires_at: inHours(24),
    });
    let asked = 0;
    const counting = () => {
      asked++;
      return clock();
    };
    const expiry = { ...SOON, jump: HOUR, restAfterJump: 1e9 };
    await using data = await openData(dataDir, HASTY, undefined, { clock: counting, expiry });
    clock.advance(365 * 24 * HOUR);
    const before = asked;
    await until("it was looked some times", () => asked > before + 5);
    expect((await data.memories.list(reach, list)).memories).toEqual([]);
    clock.advance(-365 * 24 * HOUR);
    expect(contentsOf((await data.memories.list(reach, list)).memories)).toEqual(["x"]);
    expect(await data.log.head(id)).toMatchObject({ usage: { memories: 1 } });
  });
});

test("memories of an earlier version are checked once", async () => {
  const { dataDir, clock } = await storedData({ content: "x", expires_at: inHours(1) });
  const { db, close } = await openData(dataDir, HASTY, undefined, { clock, expiry: NEVER });
  // The database as this version first opens it.
  db.sqlite.run("UPDATE heads SET expires_at = 0");
  await close();
  await using data = await openData(dataDir, HASTY, undefined, { clock, expiry: SOON });
  const expiries = () => data.db.sqlite.query("SELECT expires_at FROM heads").values().flat();
  await until("it is known when the first one expires", () => expiries()[0] !== 0);
  expect(expiries()).toEqual([Date.parse(inHours(1))]);
  clock.advance(HOUR);
  await until("and then that none does", () => expiries()[0] === null);
});

test("another server removes the memory when the one that saved it has ended", async () => {
  const { replica } = await createReplicas(["acc_1", "acc_2"]);
  const clock = testClock();
  const options = { clock, expiry: SOON };
  const [a, b, c] = [await replica(options), await replica(options), await replica(options)];
  for (const account of ["acc_1", "acc_2"]) {
    const expires_at = inHours(1);
    const memories = [{ content: "x", expires_at }, { content: "y" }];
    await a.memories.saveAll(wholeAccount(account), memories);
  }
  await a.crash();
  clock.advance(HOUR);
  const left = async (account: string) => (await b.log.head(account))?.usage?.memories;
  for (const account of ["acc_1", "acc_2"]) {
    await until("it is forgotten", async () => (await left(account)) === 1);
    const { memories } = await c.memories.list(wholeAccount(account), list);
    expect(contentsOf(memories)).toEqual(["y"]);
  }
});

test.each([
  ["in memory", true],
  ["in files", false],
])(
  "a table finds the memories that expire first, %s, with those in the log",
  async (_, hasRoom) => {
    const open = await openKeptTable(await tableStorage(), { hasRoom });
    const times = [null, 50, 20, null, 40, 30, 60, null, 10, 70, 80, 90];
    const memories = await Promise.all(
      times.map(async (expiresAt, n) => ({ ...(await storedMemory(n)), expiresAt })),
    );
    await open.put(...memories);
    for (let chore = open.flush.due(0, false); chore; chore = open.flush.due(0, false)) {
      await open.flush.run(chore);
    }
    if (hasRoom) await open.table.select({});
    const expiring = async (limit: number) =>
      (await open.table.expiring(limit)).map(({ expiresAt }) => expiresAt);
    expect(await expiring(3)).toEqual([10, 20, 30]);
    const [, a, b] = memories;
    if (!a || !b) throw new Error("there are no memories");
    await open.put({ ...a, expiresAt: 15 }, { ...b, expiresAt: null });
    await open.remove(memories[8]?.id ?? "");
    expect(await expiring(3)).toEqual([15, 30, 40]);
    expect(await expiring(99)).toEqual([15, 30, 40, 60, 70, 80, 90]);
    await open.close();
  },
);
