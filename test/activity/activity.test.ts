import { describe, expect, test } from "bun:test";
import type { Action } from "../../src/activity/action.ts";
import { createActivity, KEPT_DAYS } from "../../src/activity/activity.ts";
import { DATABASES, type Place, storesOn } from "../support/databases.ts";
import { silentLog } from "../support/embedder.ts";
import { addAccount } from "../support/stores.ts";
import { until } from "../support/until.ts";

const DAY = 86_400_000;
const LAPTOP = { id: "key_1", by: "laptop" };

async function start(place: Place) {
  const { db, clock, accounts } = await storesOn(place);
  const { id: accountId } = await addAccount(accounts);
  const activity = createActivity({ db, clock, log: silentLog });
  const action = (more: Partial<Action> & Pick<Action, "kind">): Action => ({
    ...{ accountId, source: LAPTOP, agent: null, memories: 1, memoryId: null, query: null },
    ...more,
  });
  const list = () => activity.list(accountId, { limit: 10_000 });
  return { db, clock, accounts, accountId, activity, action, list };
}

describe.each(DATABASES)("activity on %s:", (_, place) => {
  test("equal actions are counted in one event and in the day's counts", async () => {
    const { activity, accountId, action, list, clock } = await start(place);
    activity.record(action({ kind: "searched", memories: 3, memoryId: "mem_1", query: "a" }));
    activity.record(action({ kind: "searched", memories: 0, query: "b" }));
    activity.record(action({ kind: "saved", memoryId: "mem_2", agent: "codex" }));
    await until("it is written by itself", async () => (await list()).length > 0);
    expect(await list()).toMatchObject([
      { kind: "saved", agent: "codex", memoryId: "mem_2", times: 1, sourceId: "key_1" },
      { kind: "searched", agent: null, memoryId: "mem_1", times: 2, inVain: 1, memories: 3 },
    ]);

    clock.advance(DAY);
    activity.record(action({ kind: "searched", memories: 2 }));
    activity.record(action({ kind: "saved", agent: "codex" }));
    await activity.flush();
    activity.record(action({ kind: "saved", agent: "codex", source: { id: "key_1", by: "desk" } }));
    await activity.flush();
    const day = new Date(clock()).toISOString().slice(0, 10);
    const daily = await activity.daily(accountId, "2000-01-01");
    expect(daily.length).toBe(4);
    expect(daily).toContainEqual({ day, kind: "saved", times: 2, memories: 2 });
    const actors = await activity.actors(accountId, day);
    expect(actors.length).toBe(2);
    expect(actors).toContainEqual({
      ...{ sourceId: "key_1", source: "desk", agent: "codex", kind: "saved", times: 2, inVain: 0 },
      ...{ memories: 2, lastAt: new Date(clock()) },
    });
    expect(await activity.newest(accountId)).toBe((await list())[0]?.id ?? 0);
    expect(await activity.newest("another")).toBe(0);
    const found = await activity.lastFound(accountId);
    expect(found).toEqual({ memoryId: "mem_1", at: new Date(clock() - DAY) });
    expect(await activity.lastFound("another")).toBeNull();
  });

  test("questions are kept without secrets, and only while the account keeps them", async () => {
    const { activity, accountId, action, list } = await start(place);
    const ask = (query: string) => activity.record(action({ kind: "searched", query }));
    const queries = async () => {
      await activity.flush();
      return (await list()).flatMap(({ query }) => query ?? []);
    };
    ask("not this");
    expect(await queries()).toEqual([]);
    expect(await activity.queriesSince(accountId)).toBeNull();

    await activity.keepQueries(accountId, true);
    await activity.keepQueries(accountId, true);
    expect(await activity.queriesSince(accountId)).toBeInstanceOf(Date);
    ask(`what\nopens \0 ghp_${"a1B2c3D4e5F6".repeat(3)}?`);
    ask(`${"ä".repeat(300)}z`);
    const [long = "", masked = ""] = await queries();
    expect(long).toBe("ä".repeat(300));
    expect(masked).toStartWith("what opens [masked: ");

    await activity.keepQueries(accountId, false);
    expect(await queries()).toEqual([]);
    ask("nor this");
    expect(await queries()).toEqual([]);
    expect((await list()).length).toBe(4);
  });

  test("any agent name and any question can be counted", async () => {
    const { activity, accountId, action, list } = await start(place);
    await activity.keepQueries(accountId, true);
    for (const text of ["\0", "\uD800", "'; DROP TABLE activity_days; --", "\u202E"]) {
      activity.record(action({ kind: "searched", agent: text, query: text }));
    }
    await activity.flush();
    expect((await list()).map(({ agent }) => agent?.length)).toEqual([1, 31, 1]);
    expect((await activity.daily(accountId, "2000-01-01"))[0]?.times).toBe(4);
  });

  test("a question from before the setting was turned on is not kept, even if still pending", async () => {
    const { activity, accountId, action, list, clock } = await start(place);
    activity.record(action({ kind: "searched", query: "before" }));
    clock.advance(1);
    await activity.keepQueries(accountId, true);
    activity.record(action({ kind: "searched", query: "after" }));
    await activity.flush();
    expect((await list()).map(({ query }) => query)).toEqual(["after", null]);
  });

  test("a flood of actions of one account takes few rows and is counted completely", async () => {
    const { activity, accountId, action, list } = await start(place);
    await activity.keepQueries(accountId, true);
    for (let number = 0; number < 7_000; number++) {
      activity.record(action({ kind: "searched", query: `q${number}`, agent: `a${number % 3}` }));
    }
    await activity.flush();
    const events = await list();
    expect(events.length).toBeLessThanOrEqual(52);
    expect(events.reduce((sum, { times }) => sum + times, 0)).toBe(7_000);
    const [daily] = await activity.daily(accountId, "2000-01-01");
    expect(daily).toMatchObject({ kind: "searched", times: 7_000, memories: 7_000 });
  });

  test("removing an account removes its activity, and later actions are ignored", async () => {
    const { activity, accounts, accountId, action, list } = await start(place);
    const other = await accounts.add({ email: "other@example.com", password: null });
    activity.record(action({ kind: "saved", accountId: other.id }));
    await activity.keepQueries(other.id, true);
    await activity.flush();
    await accounts.remove(other.id);
    activity.record(action({ kind: "saved", accountId: other.id }));
    activity.record(action({ kind: "saved" }));
    activity.record(action({ kind: "deleted", accountId: other.id }));
    await activity.flush();
    expect((await list()).length).toBe(1);
    expect(await activity.list(other.id, { limit: 10 })).toEqual([]);
    expect(await activity.daily(other.id, "2000-01-01")).toEqual([]);
    expect(await activity.queriesSince(other.id)).toBeNull();
    expect((await activity.daily(accountId, "2000-01-01")).length).toBe(1);
  });

  test("old activity and activity beyond the limits are deleted", async () => {
    const { activity, accountId, action, list, clock } = await start(place);
    const pruned = async () => {
      // A batch has 100 rows, and the test makes 2,051.
      let batches = 0;
      for (; batches < 100 && (await activity.prune()); batches++);
      expect(batches).toBeLessThan(100);
    };
    activity.record(action({ kind: "saved" }));
    await activity.flush();
    clock.advance((KEPT_DAYS - 1) * DAY);
    for (let flush = 0; flush < 41; flush++) {
      for (let number = 0; number < 50; number++) {
        activity.record(action({ kind: "searched", agent: `a${number}` }));
      }
      await activity.flush();
    }
    await pruned();
    const events = await list();
    expect(events.length).toBe(2_000);
    expect(events[0]?.id).toBe(await activity.newest(accountId));
    expect((await activity.daily(accountId, "2000-01-01")).length).toBe(2);
    clock.advance(2 * DAY);
    await pruned();
    expect((await list()).length).toBe(2_000);
    expect((await activity.daily(accountId, "2000-01-01")).length).toBe(1);
    clock.advance(KEPT_DAYS * DAY);
    await pruned();
    expect(await list()).toEqual([]);
    expect(await activity.daily(accountId, "2000-01-01")).toEqual([]);
  });

  test("closing writes the pending actions and ignores later ones", async () => {
    const { activity, action, list } = await start(place);
    activity.record(action({ kind: "saved" }));
    await activity.close();
    activity.record(action({ kind: "saved" }));
    await activity.flush();
    expect((await list()).length).toBe(1);
  });
});

test.each(DATABASES)(
  "an import is one event however long it takes, whatever comes between, on %s",
  async (_, place) => {
    const { activity, action, list, clock } = await start(place);
    const batch = action({ kind: "imported", memories: 100 });
    for (let part = 0; part < 5; part++) {
      activity.record(batch);
      activity.record(action({ kind: "imported", agent: "codex" }));
      activity.record(action({ kind: "saved" }));
      await activity.flush();
      clock.advance(30_000);
    }
    const imports = async () => (await list()).filter(({ kind }) => kind === "imported");
    const own = { agent: null, memories: 500, times: 5, at: new Date(clock() - 30_000) };
    expect(await imports()).toMatchObject([{ agent: "codex", memories: 5 }, own]);
    expect(await list()).toHaveLength(7);
    clock.advance(60_000);
    activity.record(batch);
    await activity.flush();
    expect(await imports()).toMatchObject([{ memories: 100 }, { agent: "codex" }, own]);
  },
);

test("actions that could not be written are written later together with new ones", async () => {
  const [, sqlite] = DATABASES[0] ?? [];
  if (!sqlite) throw new Error("there is no SQLite");
  const { db, clock, accountId, action } = await start(sqlite);
  let isBusy = true;
  const attempt: typeof db.attempt = async (task) => (isBusy ? false : db.attempt(task));
  const activity = createActivity({ db: { ...db, attempt }, clock, log: silentLog });
  activity.record(action({ kind: "saved", memoryId: "mem_1" }));
  await activity.flush();
  activity.record(action({ kind: "saved", memoryId: "mem_2" }));
  await activity.flush();
  expect(await activity.list(accountId, { limit: 10 })).toEqual([]);
  isBusy = false;
  await activity.close();
  expect(await activity.list(accountId, { limit: 10 })).toMatchObject([
    { times: 2, memories: 2, memoryId: "mem_2" },
  ]);
});

test("actions that can never be written are dropped and delay nothing", async () => {
  const [, sqlite] = DATABASES[0] ?? [];
  if (!sqlite) throw new Error("there is no SQLite");
  const { db, clock, accountId, action } = await start(sqlite);
  let isRefused = true;
  const attempt: typeof db.attempt = async (task) => (isRefused ? false : db.attempt(task));
  const activity = createActivity({ db: { ...db, attempt }, clock, log: silentLog });
  activity.record(action({ kind: "saved" }));
  for (let tries = 0; tries < 60; tries++) await activity.flush();
  isRefused = false;
  activity.record(action({ kind: "deleted" }));
  await activity.close();
  expect(await activity.list(accountId, { limit: 10 })).toMatchObject([{ kind: "deleted" }]);
});
