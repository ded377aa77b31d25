import { expect } from "bun:test";
import type { Cluster } from "../support/cluster.ts";
import { createRandom } from "../support/random.ts";
import { createRandomClients } from "./random-clients.ts";
import { createSaver } from "./saver.ts";

const CLIENTS = 3;
/** Milliseconds between two calls of a client: they keep a long history short enough to check. */
const PACE = 20;
/**
 * Milliseconds for which the client that only saves rests now and then, so that its table is indexed, and at most while an index
 * is awaited: not every rest makes one.
 */
const REST_MS = 900;
const MAX_REST_MS = 5_000;

export type Load = Awaited<ReturnType<typeof startLoad>>;

/**
 * Clients that write and read while things fail, with the replicas that are up: all kinds of calls on one
 * account, and only saves on another one.
 */
export async function startLoad(cluster: Cluster, seed: number) {
  const random = createRandom(seed);
  const origin = () => random.pick(cluster.replicas.filter(({ isUp }) => isUp))?.origin() ?? "";
  const [mixed, saving] = [await cluster.addAccount(), await cluster.addAccount()];
  const clients = createRandomClients({
    origin,
    random,
    key: mixed.key,
    groups: ["wone", "wtwo"],
  });
  let isOver = false;
  const rest = async () => {
    const started = performance.now();
    const isAwaited = () => cluster.awaited()?.startsWith("indexes") ?? false;
    const lasts = () => (isAwaited() ? MAX_REST_MS : REST_MS);
    while (!isOver && performance.now() < started + lasts()) await Bun.sleep(PACE);
  };
  const saver = createSaver({ origin, random, key: saving.key, rest });
  const running = Promise.all([clients.run(CLIENTS, () => isOver, PACE), saver.run(() => isOver)]);
  // Awaited at the end, and by `during`.
  running.catch(() => {});

  return {
    random,
    counts: () => ({ ...clients.counts, ...saver.counts }),
    /** Runs a task of the test. Fails if a client fails first. */
    during: <Result>(task: Promise<Result>) =>
      Promise.race([task, running.then(() => Promise.reject(new Error("the clients have ended")))]),
    stop() {
      isOver = true;
    },
    /** Ends the clients, and compares each replica's memories with the answers. */
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
