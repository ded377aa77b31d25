import { expect } from "bun:test";
import type { Cluster } from "../support/cluster.ts";
import { createRandom } from "../support/random.ts";
import { createRandomClients } from "./random-clients.ts";
import { createSaver } from "./saver.ts";

const CLIENTS = 3;
/** Milliseconds between two calls of a client, which keep a long history within what can be judged. */
const PACE = 20;

export type Load = Awaited<ReturnType<typeof startLoad>>;

/**
 * Clients that write and read while things fail, sent to the replicas that are up: on one account all
 * kinds of calls, on another one nothing but saves.
 */
export async function startLoad(cluster: Cluster, seed: number) {
  const random = createRandom(seed);
  const origin = () => random.pick(cluster.replicas.filter(({ isUp }) => isUp))?.origin() ?? "";
  const [mixed, saving] = [await cluster.addAccount(), await cluster.addAccount()];
  const clients = createRandomClients({
    ...{ origin, random, key: mixed.key, groups: ["wone", "wtwo"] },
  });
  const saver = createSaver({ origin, random, key: saving.key });
  let isOver = false;
  const running = Promise.all([clients.run(CLIENTS, () => isOver, PACE), saver.run(() => isOver)]);
  // It is awaited at the end, and told by whoever waits for something meanwhile.
  running.catch(() => {});

  return {
    random,
    counts: () => ({ ...clients.counts, ...saver.counts }),
    /** A task of the test, or the failure of a client if that comes first. */
    during: <Result>(task: Promise<Result>) =>
      Promise.race([task, running.then(() => Promise.reject(new Error("the clients have ended")))]),
    stop() {
      isOver = true;
    },
    /** Ends the clients, and holds what each replica has against what was answered. */
    async check() {
      isOver = true;
      await running;
      for (const { origin } of cluster.replicas) {
        await saver.check(origin());
        await clients.readEach(origin());
      }
      expect(clients.judge()).toBeNull();
      expect(await cluster.untilSwept()).toEqual({ orphans: [], missing: [] });
    },
  };
}
