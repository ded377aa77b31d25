import { afterAll, beforeAll, test } from "bun:test";
import { type Cluster, type Replica, startCluster } from "../support/cluster.ts";
import { FLUSH_STEPS } from "../support/flush-steps.ts";
import { until } from "../support/until.ts";
import { startLoad } from "./load.ts";

/**
 * While clients write, a replica is killed, or stopped for longer than its lease, right after each step of
 * a flush, a removal and a sweep. `LONG=1` does it ten times; SEED=n gives other calls.
 */
const STEPS = [
  ...FLUSH_STEPS,
  "base begun",
  "object put",
  "base condemned",
  "object removed",
  "base gone",
];
const ROUNDS = process.env.LONG ? 10 : 1;
const SEED = Number(process.env.SEED ?? 1);

/** Checkpoints that all replicas but one have recorded. */
function recordedBy(cluster: Cluster, except: Replica): number {
  return cluster.replicas
    .filter((replica) => replica !== except)
    .reduce((sum, { steps }) => sum + steps("checkpoint recorded"), 0);
}

/** @param starting a replica that restarts after the step before */
async function hit(
  cluster: Cluster,
  { step, signal }: { step: string; signal: "SIGKILL" | "SIGSTOP" },
  starting: Promise<void>,
): Promise<{ starting: Promise<void> }> {
  cluster.setTrap({ step, signal });
  const victim = await until(`a replica comes to "${step}"`, cluster.trapped);
  victim.isUp = false;
  await starting;
  const before = recordedBy(cluster, victim);
  await until("others take over", () => recordedBy(cluster, victim) > before);
  const restarting = (async () => {
    if (signal === "SIGKILL") await victim.restart();
    else victim.resume();
    victim.isUp = true;
  })();
  restarting.catch(() => {});
  return { starting: restarting };
}

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

test.each(["SIGKILL", "SIGSTOP"] as const)(
  "%s at any step of upkeep loses and duplicates no answered write",
  async (signal) => {
    const load = await startLoad(cluster, SEED);
    let starting = Promise.resolve();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        for (const step of STEPS) {
          ({ starting } = await load.during(hit(cluster, { step, signal }, starting)));
        }
      }
    } finally {
      load.stop();
    }
    await starting;
    await load.check();
    if (process.env.LONG) console.log(signal, load.counts());
  },
  ROUNDS * 300_000,
);
