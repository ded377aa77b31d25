import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TidyOutcome, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import type { Client } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

/** The earlier and the later text of memories that say the same, and of ones that contradict each other. */
const SAME = ["The user prefers tabs over spaces.", "The user prefers tabs to spaces."] as const;
const CHANGED = ["Emil lives in Graz.", "Emil lives in Turku."] as const;
const OTHER = "The release train leaves every second Tuesday.";

/** Milliseconds between two looks: what is awaited takes ten seconds or more. */
const PAUSE = 250;

let cluster: Cluster;
beforeAll(async () => {
  // Which memories say the same is for the model of relations to tell.
  cluster = await startCluster({ replicas: 2, settings: { RELATES: "1" } });
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** A new account, and its clients of both replicas. */
async function clients() {
  const { key } = await cluster.addAccount();
  return [cluster.client(0, key), cluster.client(1, key)] as const;
}

async function report(client: Client): Promise<TidyReport> {
  const { status, body } = await client.send("GET", "/memories/tidy");
  expect(status).toBe(200);
  return body as TidyReport;
}

/** Waits until the base has all memories: what a flush brings into it is compared again. */
const untilFlushed = () =>
  until(
    "all is flushed",
    async () => {
      const query =
        "SELECT 1 FROM heads LEFT JOIN checkpoints USING (name) WHERE seq > coalesce(up_to, 0)";
      return (await cluster.postgres.execute(query, cluster.database.name)).length === 0;
    },
    PAUSE,
  );

/** The report once all memories are compared and it has so many groups. */
const withGroups = (client: Client, count: number): Promise<TidyReport> =>
  until(
    `${count} groups`,
    async () => {
      const found = await report(client);
      return found.compared === 1 && found.groups.length === count && found;
    },
    PAUSE,
  );

async function apply(client: Client, { groups }: TidyReport): Promise<TidyOutcome> {
  const json = { groups: groups.map(({ id }) => ({ id })) };
  const answer = await client.send("POST", "/memories/tidy", { json });
  expect(answer.status).toBe(200);
  return answer.body as TidyOutcome;
}

const undo = async (client: Client, { undo }: TidyOutcome) =>
  (await client.send("DELETE", `/memories/tidy?undo=${undo}`)).status;

/** Saves two memories, and returns their ids, the later one first. */
async function savePair(client: Client, [earlier, later]: readonly [string, string]) {
  const { id } = await client.save({ content: earlier });
  return [(await client.save({ content: later })).id, id] as const;
}

const isSuperseded = async (client: Client, [later, earlier]: readonly [string, string]) =>
  (await client.get(earlier)).superseded_by === later;

test("both of two replicas report what one has compared, and what is applied or undone at one is so at the other", async () => {
  const [a, b] = await clients();
  const same = await savePair(a, SAME);
  const changed = await savePair(a, CHANGED);
  await a.save({ content: OTHER });
  await untilFlushed();
  const found = await withGroups(a, 2);
  expect(found.groups.map(({ kind, memories }) => [kind, memories.map(({ id }) => id)])).toEqual([
    ["restatements", [...same]],
    ["contradictions", [...changed]],
  ]);
  expect((await report(b)).groups).toEqual(found.groups);

  const outcome = await apply(a, found);
  expect(outcome).toMatchObject({ superseded: 2, deleted: 0 });
  expect((await report(b)).groups).toEqual([]);
  expect(await undo(b, outcome)).toBe(200);
  expect((await report(a)).groups).toEqual(found.groups);
  expect(await undo(a, outcome)).toBe(409);

  const again = await apply(b, found);
  for (const client of [a, b]) {
    for (const pair of [same, changed]) {
      await until("it is superseded", () => isSuperseded(client, pair), PAUSE);
    }
  }
  expect(await undo(a, again)).toBe(409);
  for (const client of [a, b]) {
    const { kinds } = await withGroups(client, 0);
    expect(kinds).toMatchObject({ restatements: 0, contradictions: 0 });
  }
}, 240_000);

// Comes last, since it leaves one replica.
test("what a replica was asked to apply, another one applies if that replica has died", async () => {
  const [a, b] = await clients();
  const pair = await savePair(a, SAME);
  await untilFlushed();
  const outcome = await apply(a, await withGroups(a, 1));
  await cluster.replicas[0]?.kill();
  expect((await report(b)).groups).toEqual([]);
  expect(await isSuperseded(b, pair)).toBe(false);
  await until("the other one applies it", () => isSuperseded(b, pair), PAUSE);
  expect(await undo(b, outcome)).toBe(409);
}, 240_000);
