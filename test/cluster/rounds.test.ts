import { test } from "bun:test";
import { type Cluster, startCluster } from "../support/cluster.ts";
import type { Random } from "../support/random.ts";
import { startLoad } from "./load.ts";

/**
 * While clients write, one part after another fails at a random moment. `LONG=1` has 200 rounds with each
 * of two seeds; SEED=n tries another one. The pauses are random moments, and last as long as the faults.
 */
const SEEDS = process.env.LONG ? [1, 2] : [Number(process.env.SEED ?? 1)];
const ROUNDS = process.env.LONG ? 200 : 7;
/** Milliseconds that are longer than a lease of these replicas. */
const LONGEST = 2_500;

type Fault = (cluster: Cluster, random: Random) => Promise<void>;

/** The faults, and how they end. */
const FAULTS: Record<string, Fault> = {
  async "kill a replica"(cluster, random) {
    const replica = random.pick(cluster.replicas);
    if (!replica) return;
    replica.isUp = false;
    await replica.kill();
    await Bun.sleep(random.below(LONGEST / 2));
    await replica.restart(random.below(2) === 0);
    replica.isUp = true;
  },
  async "end a replica in order"(cluster, random) {
    const replica = random.pick(cluster.replicas);
    if (!replica) return;
    replica.isUp = false;
    await replica.end();
    await replica.restart();
    replica.isUp = true;
  },
  async "stop a replica past its lease and wake it"(cluster, random) {
    const replica = random.pick(cluster.replicas);
    if (!replica) return;
    replica.isUp = false;
    replica.pause();
    await Bun.sleep(LONGEST / 2 + random.below(LONGEST / 2));
    replica.resume();
    replica.isUp = true;
  },
  async "cut all connections to PostgreSQL"({ postgres, database }) {
    await postgres.execute(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.name}'`,
    );
  },
  async "kill PostgreSQL"({ postgres }, random) {
    await postgres.kill();
    await Bun.sleep(random.below(LONGEST / 2));
    await postgres.start();
  },
  async "hang PostgreSQL"({ postgres }, random) {
    postgres.pause();
    await Bun.sleep(random.below(LONGEST));
    postgres.resume();
  },
  async "kill the object store"({ objects }, random) {
    await objects.stop();
    await Bun.sleep(random.below(LONGEST));
    await objects.start();
  },
};

test.each(SEEDS)(
  "no answered write is lost or duplicated by any fault, with seed %d",
  async (seed) => {
    await using cluster = await startCluster({ stopsPostgres: true });
    const load = await startLoad(cluster, seed);
    const names = Object.keys(FAULTS);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await load.during(Bun.sleep(load.random.below(700)));
        // Each fault at least once, then in random order.
        const name = names[round] ?? load.random.pick(names) ?? "";
        if (process.env.LONG) console.log(`${round}: ${name}`, load.counts());
        await load.during(FAULTS[name]?.(cluster, load.random) ?? Promise.resolve());
      }
      await load.during(Bun.sleep(500));
    } finally {
      load.stop();
    }
    await load.check();
  },
  ROUNDS * 60_000,
);
