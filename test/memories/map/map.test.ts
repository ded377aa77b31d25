import { afterAll, describe, expect, test } from "bun:test";
import type { Reach } from "../../../src/keys/reach.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import type { ToDraw } from "../../../src/memories/map/draw-in-worker.ts";
import { type MemoryRow, UNSET } from "../../../src/memories/model/rows.ts";
import { createMaps, idOnMap, type MemoryMap } from "../../../src/memories/rules/map.ts";
import { idOf } from "../../support/bases.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { startServer } from "../../support/server.ts";
import { until } from "../../support/until.ts";

const server = await startServer();
afterAll(server.close);

const idsOf = (map: MemoryMap) =>
  [...map.topicOf.keys()].map((number) => idOnMap(map, number)).sort();

describe("a map of an account", () => {
  test("has its memories that are true now, and no others", async () => {
    const [ada, bob] = [await server.account(), await server.account()];
    await bob.save({ content: "of another account" });
    const old = await ada.save({ content: "Sam lives in Lisbon" });
    const now = await ada.save({ content: "Sam lives in Porto", supersedes: old.id });
    const tea = await ada.save({ content: "Sam drinks green tea", expires_at: inDays(2) });
    const reach = wholeAccount(ada.accountId);
    const map = await server.memories.map(reach);
    expect(idsOf(map)).toEqual([now.id, tea.id].sort());
    expect(map.total).toBe(2);
    expect(map.places).toHaveLength(4);

    server.clock.advance(3 * DAY);
    expect(idsOf(await server.memories.map(reach))).toEqual([now.id]);
    await ada.send("DELETE", `/memories/${now.id}`);
    // What it took the place of is true again.
    expect(idsOf(await server.memories.map(reach))).toEqual([old.id]);
    await ada.send("DELETE", `/memories/${old.id}`);
    expect(await server.memories.map(reach)).toMatchObject({ total: 0, topics: [] });
  });

  test("has of a project what may be read there", async () => {
    const { accountId, save } = await server.account();
    const own = await save({ content: "atlas is written in Go", project: "atlas" });
    const all = await save({ content: "Sam likes Go" });
    await save({ content: "borealis is written in Zig", project: "borealis" });
    const mapOf = async (only: boolean) =>
      idsOf(await server.memories.map({ accountId, bound: { project: "atlas", only } }));
    expect(await mapOf(false)).toEqual([own.id, all.id].sort());
    expect(await mapOf(true)).toEqual([own.id]);
  });

  test("tells projects, tags and agents apart", async () => {
    const { accountId, save } = await server.account();
    await save({ content: "one", tags: ["a", "b"], agent_id: "planner" });
    await save({ content: "two", tags: ["b"], project: "atlas" });
    await save({ content: "three" });
    const { groups } = await server.memories.map(wholeAccount(accountId));
    const named = (name: string, memories: number) => ({ name, memories });
    expect(groups.tag).toMatchObject({ named: [named("b", 2), named("a", 1)], others: 0, none: 1 });
    expect([...groups.tag.masks].sort()).toEqual([0b1, 0b11, 0b10_0000_0000]);
    expect(groups.project).toMatchObject({ named: [named("atlas", 1)], none: 2 });
    expect(groups.agent).toMatchObject({ named: [named("planner", 1)], none: 2 });
  });
});

const DAY = 86_400_000;
const inDays = (days: number) => new Date(server.clock() + days * DAY).toISOString();

/** A table of as many memories, and maps of it that are counted and end when they are told to. */
function counted(size: number) {
  const rows = Array.from(
    { length: size },
    (_, number): MemoryRow => ({
      ...UNSET,
      id: idOf(number),
      content: `text ${number}`,
      ...{ createdAt: 1, updatedAt: 1, starts: [] },
    }),
  );
  const table = {
    changes: 0,
    model: { id: "m", formerIds: [], dimension: 2, cosines: { unrelated: 0, same: 1 } },
    usage: { memories: size, bytes: 0 },
    async *rows() {
      yield rows;
    },
    vectorsOf: async (ids: readonly string[]) =>
      new Map(ids.map((id) => [id, new Float32Array(2)])),
  };
  const drawn: (ToDraw & { end: () => void; signal: AbortSignal | undefined })[] = [];
  const maps = createMaps({
    clock: () => 1,
    most: 50,
    draw: (what, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        const places = new Float32Array(2 * what.texts.length);
        const topicOf = new Uint8Array(what.texts.length);
        drawn.push({ ...what, signal, end: () => resolve({ places, topics: [], topicOf }) });
      }),
  });
  const reach: Reach = wholeAccount("a");
  const ask = (signal?: AbortSignal) =>
    maps({ ...reach, ...(signal && { signal }) }, (task) => task(table));
  /** Waits until so many maps have been begun, and returns the last of them. */
  const begun = (count: number) => until("a map is being drawn", () => drawn[count - 1] ?? null);
  return { table, drawn, ask, begun };
}

/** Lets everything happen that waits for nothing. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("maps are drawn", () => {
  test("of a sample where there are too many memories, which grows with them", async () => {
    const { table, drawn, ask, begun } = counted(1_000);
    const first = ask();
    (await begun(1)).end();
    const map = await first;
    expect(map.total).toBe(1_000);
    expect(map.topicOf).toHaveLength(50);
    expect(drawn[0]?.vectors).toHaveLength(100);

    // One more changes one point at the most.
    const more = counted(1_001);
    Object.assign(table, more.table, { changes: 1 });
    const second = ask();
    (await begun(2)).end();
    const ids = new Set(idsOf(await second));
    expect(idsOf(map).filter((id) => !ids.has(id)).length).toBeLessThanOrEqual(1);
  });

  test("until all who wait have left, and again for the next", async () => {
    const { drawn, ask, begun } = counted(3);
    const [first, second] = [new AbortController(), new AbortController()];
    const asked = Promise.allSettled([ask(first.signal), ask(second.signal)]);
    await begun(1);
    first.abort();
    await settle();
    expect(drawn.map(({ signal }) => signal?.aborted)).toEqual([false]);
    second.abort();
    expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const next = ask();
    (await begun(2)).end();
    expect((await next).total).toBe(3);
  });

  test("once for each state, whoever asks", async () => {
    const { table, drawn, ask, begun } = counted(3);
    let isOver = false;
    const asked = Promise.all([ask(), ask(), ask()]).then(() => {
      isOver = true;
    });
    await until("all have their map", () => {
      for (const one of drawn) one.end();
      return isOver;
    });
    await asked;
    // The others had asked before the first was begun, or after: at most one more is drawn.
    const before = drawn.length;
    expect(before).toBeLessThanOrEqual(2);
    await ask();
    expect(drawn).toHaveLength(before);
    table.changes++;
    const again = ask();
    (await begun(before + 1)).end();
    await again;
    expect(drawn).toHaveLength(before + 1);
  });

  test("anew for who asks after a change, while one without it is drawn", async () => {
    const { table, drawn, ask, begun } = counted(3);
    const before = ask();
    await begun(1);
    table.changes++;
    const after = ask();
    await settle();
    expect(drawn).toHaveLength(1);
    drawn[0]?.end();
    await before;
    (await begun(2)).end();
    expect(await after).toMatchObject({ total: 3 });
  });

  test("again after one could not be", async () => {
    const { table } = counted(3);
    let fails = true;
    const maps = createMaps({
      clock: () => 1,
      draw: async ({ texts }) => {
        if (fails) throw new Error("the thread ended");
        const size = texts.length;
        return { places: new Float32Array(2 * size), topics: [], topicOf: new Uint8Array(size) };
      },
    });
    const ask = () => maps(wholeAccount("a"), (task) => task(table));
    expect(await outcomeOf(ask())).toThrow("the thread ended");
    fails = false;
    expect(await ask()).toMatchObject({ total: 3 });
  });
});
