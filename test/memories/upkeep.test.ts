import { expect, test } from "bun:test";
import type { Keeper } from "../../src/memories/keeper.ts";
import { startUpkeep } from "../../src/memories/upkeep.ts";
import { createMetrics } from "../../src/metrics.ts";
import { silentLog } from "../support/embedder.ts";

/** Tables that have something to purge, the last of them first, and what happened to them. */
function tables(count: number, { isLate }: { isLate: boolean }) {
  const purged: number[] = [];
  const failures: number[] = [];
  const done = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const keeperOf = (number: number): Keeper => {
    let hasRemains = true;
    return {
      noteCommit() {},
      hasRemains: () => hasRemains,
      isLate: () => isLate && hasRemains,
      due: () => (hasRemains ? "purge" : null),
      async run() {
        most = Math.max(most, ++running);
        await Bun.sleep(1);
        running--;
        if (number === 5 && failures.push(number) === 1) throw new Error("this fails once");
        hasRemains = false;
        purged.push(number);
        if (purged.length === count) done.resolve();
      },
      isIdle: () => !hasRemains,
      canRest: () => !hasRemains,
      debts: () => ({
        dirtySince: null,
        remainsSince: count - number,
        commits: 0,
        isDamaged: false,
        retryAt: 0,
      }),
    };
  };
  const all = Array.from({ length: count }, (_, n) => ({
    ...{ name: `table${n}`, keeper: keeperOf(n), isInExcess: false },
  }));
  return { kept: () => all, done: done.promise, purged, most: () => most };
}

test.each([
  ["one by one", false, 1],
  ["some side by side when they are late", true, 3],
])("tables are purged %s, the oldest first, and a failure stops no other", async (_, isLate, n) => {
  const { kept, done, purged, most } = tables(9, { isLate });
  const rounds: number[] = [];
  const upkeep = startUpkeep({
    kept,
    afterChores: async (jobs) => void rounds.push(jobs.length),
    log: silentLog,
    metrics: createMetrics(),
  });
  await done;
  await upkeep.stop();
  expect(most()).toBe(n);
  expect(purged[0]).toBe(8);
  expect(purged.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(rounds.reduce((sum, jobs) => sum + jobs)).toBe(10);
});
