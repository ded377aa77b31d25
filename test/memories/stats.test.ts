import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DEFAULT_DECAY } from "../../src/config/config.ts";
import { retention } from "../../src/memories/ranking/retention.ts";
import { createTally, STATS_LIMITS, Stats } from "../../src/memories/rules/stats.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import type { Client } from "../support/client.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const DAY = 86_400_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ due: { ...UPKEEP_LIMITS, idle: 500 } });
});
afterAll(() => server.close());

async function statsOf(client: Client): Promise<Static<typeof Stats>> {
  const { status, body } = await client.send("GET", "/stats");
  expect(status).toBe(200);
  if (!Value.Check(Stats, body)) throw new TypeError(`not as published: ${JSON.stringify(body)}`);
  return body;
}

test("an account without memories has zeros and nulls", async () => {
  expect(await statsOf(await server.account())).toMatchObject({
    memories: 0,
    oldest: null,
    newest: null,
    tags: [],
    agents: [],
    projects: [],
    days: [],
    fading: [],
  });
});

test("memories of this account are counted by tag, agent and day", async () => {
  const [client, other] = [await server.account(), await server.account()];
  await other.save({ content: "Not this one", tags: ["work"] });
  const first = await client.save({ content: "One", tags: ["work", "<b>"], agent_id: "planner" });
  await client.save({ content: "Two passages\n\nof one memory", tags: ["work"] });
  server.clock.advance(2 * DAY);
  const last = await client.save({ content: "Three", agent_id: "planner" });

  const stats = await statsOf(client);
  const dayOf = ({ created_at }: { created_at: string }) => created_at.slice(0, 10);
  expect(stats).toMatchObject({
    memories: 3,
    oldest: first.created_at,
    newest: last.created_at,
    tags: [
      { tag: "work", memories: 2 },
      { tag: "<b>", memories: 1 },
    ],
    agents: [
      { agent_id: "planner", memories: 2 },
      { agent_id: null, memories: 1 },
    ],
    days: [
      { day: dayOf(first), memories: 2 },
      { day: dayOf(last), memories: 1 },
    ],
  });
  // Memories that are only in the log take space too.
  expect(stats.bytes).toBeGreaterThan(0);
  await until("the size of a base", async () => ((await statsOf(client)).bytes ?? 0) > 1_000);
});

test("memories of similar age and importance are grouped", async () => {
  const client = await server.account();
  await client.saveAll([
    { content: "Weighty", importance: 1 },
    { content: "Also weighty", importance: 1 },
    { content: "Light", importance: 0 },
  ]);
  server.clock.advance(30 * DAY);
  const { fading } = await statsOf(client);
  const kept = (importance: number) =>
    expect.closeTo(retention(30 * DAY, importance, DEFAULT_DECAY), 3);
  expect(fading.toSorted((a, b) => a.memories - b.memories)).toEqual([
    { age_days: 30, importance: 0, retention: kept(0), memories: 1 },
    { age_days: 30, importance: 1, retention: kept(1), memories: 2 },
  ]);
});

test("pinned memories have not faded", async () => {
  const client = await server.account();
  await client.save({ content: "Pinned", pinned: true, importance: 0 });
  await client.save({ content: "Not", importance: 0 });
  server.clock.advance(300 * DAY);
  const { fading } = await statsOf(client);
  expect(fading.map(({ retention }) => retention).toSorted()).toEqual([
    expect.closeTo(retention(300 * DAY, 0), 3),
    1,
  ]);
  const found = await client.search("pinned or not", { mode: "semantic", explain: "true" });
  const kept = new Map(found.map(({ content, explanation }) => [content, explanation?.retention]));
  expect(kept.get("Pinned")).toBe(1);
  expect(kept.get("Not")).toBeLessThan(0.01);
});

test("a memory is counted until it expires", async () => {
  const client = await server.account();
  const at = (days: number) => new Date(server.clock() + days * DAY).toISOString();
  const counted = async () => (await statsOf(client)).memories;
  await client.save({ content: "One", expires_at: at(1) });
  await client.save({ content: "Two", expires_at: at(2) });
  expect(await counted()).toBe(2);
  server.clock.advance(DAY - 1);
  expect(await counted()).toBe(2);
  server.clock.advance(1);
  expect(await counted()).toBe(1);
  server.clock.advance(DAY);
  expect(await counted()).toBe(0);
});

test("statistics follow every change", async () => {
  const client = await server.account();
  const { id } = await client.save({ content: "First", tags: ["old"] });
  expect((await statsOf(client)).tags).toEqual([{ tag: "old", memories: 1 }]);
  await client.update(id, { tags: ["new"] });
  expect((await statsOf(client)).tags).toEqual([{ tag: "new", memories: 1 }]);
  await client.remove(id);
  expect(await statsOf(client)).toMatchObject({ memories: 0, tags: [] });
});

test("lists are limited", async () => {
  const tally = createTally(0, DEFAULT_DECAY);
  for (let index = 0; index < 5_000; index++) {
    tally.add({
      tags: [`tag ${index}`],
      agentId: `agent ${index}`,
      project: `project ${index}`,
      importance: index / 5_000,
      pinned: false,
      createdAt: -index * DAY,
      updatedAt: -index * DAY,
    });
  }
  const { tags, agents, projects, days, fading } = await tally.total();
  expect(tags).toHaveLength(STATS_LIMITS.tags);
  expect(agents).toHaveLength(STATS_LIMITS.agents);
  expect(projects).toHaveLength(STATS_LIMITS.projects);
  expect(days).toHaveLength(STATS_LIMITS.days);
  expect(days.at(-1)?.day).toBe("1970-01-01");
  expect(fading.length).toBeLessThan(2_500);
});

test("statistics need the scope to read", async () => {
  const response = await fetch(`${server.origin}/api/stats`);
  expect(response.status).toBe(401);
  const writer = await server.account(["memories:write"]);
  expect(await writer.send("GET", "/stats")).toMatchObject({ status: 403 });
  const reader = await server.account(["memories:read"]);
  expect(await reader.send("GET", "/stats?day=1")).toMatchObject({ status: 422 });
});
