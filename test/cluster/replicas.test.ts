import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, contentsOf } from "../support/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { createRandom, type Random } from "../support/random.ts";
import { createRandomClients } from "./random-clients.ts";

/**
 * Random calls of several clients to three replicas. `LONG=1` takes a minute for each of two seeds; SEED=n
 * tries another one.
 */
const SEEDS = process.env.LONG ? [1, 2] : [Number(process.env.SEED ?? 1)];
const LONG = process.env.LONG ? 60_000 : 700;
const CLIENTS = 9;
/** The fewest calls, however slow the machine is. */
const LEAST = 500;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

test.each(SEEDS)(
  "the answers of three replicas are linearizable, with seed %d",
  async (seed) => {
    const { key } = await cluster.addAccount();
    const random = createRandom(seed);
    const clients = createRandomClients({
      origin: () => random.pick(cluster.replicas)?.origin() ?? "",
      key,
      random,
      groups: ["wone", "wtwo", "wthree"],
    });
    const end = performance.now() + LONG;
    const isEnough = () => performance.now() > end && clients.counts.calls > LEAST;
    await clients.run(CLIENTS, isEnough);
    for (const { origin } of cluster.replicas) await clients.readEach(origin());
    expect(clients.judge()).toBeNull();
    expect(clients.counts).toMatchObject({ failed: 0, retried: 0 });
    if (process.env.LONG) console.log(clients.counts);
  },
  LONG + 120_000,
);

const READS = process.env.LONG ? 1_000 : 240;
const LANES = 4;

/** Writes to one replica, and reads from another one right after the answer. */
async function writeAndRead(writing: Client, reading: Client, random: Random): Promise<void> {
  const word = random.word();
  const session = random.word();
  const saved = await writing.save({ content: `${word} as it was`, session_id: session });
  expect(await reading.get(saved.id)).toEqual(saved);

  const changed = await writing.update(saved.id, { content: `${word} as it is` });
  const found = await reading.search(word, { mode: "keyword", session_id: session });
  expect(contentsOf(found)).toEqual([changed.content]);

  // The other way round.
  await reading.remove(saved.id);
  expect((await writing.list({ session_id: session })).memories).toEqual([]);

  const batch = Array.from({ length: 3 }, () => ({ content: random.word(), session_id: session }));
  const memories = await reading.saveAll(batch);
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  const listed = (await writing.list({ session_id: session })).memories;
  expect(listed.toSorted(byId)).toEqual(memories.toSorted(byId));
}

test("no read right after a write to another replica is stale", async () => {
  const { key } = await cluster.addAccount();
  const random = createRandom(1);
  const lane = async (_: unknown, start: number) => {
    for (let round = 0; round < READS / 4 / LANES; round++) {
      const from = (start + round) % cluster.replicas.length;
      const to = (from + 1 + (round % (cluster.replicas.length - 1))) % cluster.replicas.length;
      await writeAndRead(cluster.client(from, key), cluster.client(to, key), random);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});

const MINE = { session_id: "shared", tags: ["shared"] };

/** An account's memories by every way of reading. */
async function seenBy(client: Client): Promise<string[]> {
  const listed = (await client.list({ limit: 100 })).memories;
  const found = await Promise.all(
    ["keyword", "semantic", "hybrid"].map((mode) =>
      client.search("shared words", { mode, limit: 100 }),
    ),
  );
  return [...new Set(contentsOf([...listed, ...found.flat()]))].sort();
}

test("simultaneous accounts see nothing of each other on any replica", async () => {
  const accounts = await Promise.all(Array.from({ length: 3 }, () => cluster.addAccount()));
  const owned = accounts.map(() => [] as { id: string; content: string }[]);
  await Promise.all(
    accounts.map(async ({ key }, account) => {
      for (let round = 0; round < 2 * cluster.replicas.length; round++) {
        const client = cluster.client(round % cluster.replicas.length, key);
        const content = `shared words of account ${account}, number ${round}`;
        owned[account]?.push(await client.save({ ...MINE, content }));
      }
    }),
  );
  for (const [account, { key }] of accounts.entries()) {
    const own = owned[account] ?? [];
    const foreign = owned.filter((_, other) => other !== account).flat();
    for (const replica of cluster.replicas.keys()) {
      const client = cluster.client(replica, key);
      expect(await seenBy(client)).toEqual(own.map(({ content }) => content).sort());
      for (const { id } of foreign) {
        const path = `/memories/${id}`;
        expect((await client.send("GET", path)).status).toBe(404);
        expect((await client.send("PUT", path, { json: { content: "mine" } })).status).toBe(404);
        expect((await client.send("DELETE", path)).status).toBe(404);
      }
    }
  }
  const [first, second] = accounts;
  const { length } = owned[0] ?? [];
  expect(await cluster.client(1, first?.key ?? "").removeMatching({ tags: "shared" })).toBe(length);
  expect(await seenBy(cluster.client(2, first?.key ?? ""))).toEqual([]);
  expect(await seenBy(cluster.client(0, second?.key ?? ""))).toHaveLength(owned[1]?.length ?? 0);
});
