import { expect, test } from "bun:test";
import { startCluster } from "../support/cluster.ts";
import { createRandom } from "../support/random.ts";
import { createRandomClients } from "./random-clients.ts";

/**
 * Random calls of several clients over three replicas, each to any of them. `LONG=1` takes a minute
 * for each of two seeds; SEED=n tries another.
 */
const SEEDS = process.env.LONG ? [1, 2] : [Number(process.env.SEED ?? 1)];
const LONG = process.env.LONG ? 60_000 : 4_000;
const CLIENTS = 9;

test.each(SEEDS)(
  "what clients of three replicas are answered has an order that explains it, with seed %d",
  async (seed) => {
    await using cluster = await startCluster();
    const { key } = await cluster.addAccount();
    const random = createRandom(seed);
    const clients = createRandomClients({
      origin: () => random.pick(cluster.replicas)?.origin ?? "",
      ...{ key, random, groups: ["wone", "wtwo", "wthree"] },
    });
    const end = performance.now() + LONG;
    await clients.run(CLIENTS, () => performance.now() > end);
    for (const _ of cluster.replicas) await clients.readEach("end");
    expect(clients.judge()).toBeNull();
    expect(clients.counts).toMatchObject({ failed: 0, retried: 0 });
    expect(clients.counts.calls).toBeGreaterThan(200);
    if (process.env.LONG) console.log(clients.counts);
  },
  LONG + 120_000,
);
