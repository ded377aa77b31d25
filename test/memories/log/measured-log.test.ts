import { expect, test } from "bun:test";
import { measureLog } from "../../../src/memories/log/measured-log.ts";
import { createPostgresLog } from "../../../src/memories/log/postgres-log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { readMetrics } from "../../support/metrics.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { logDatabase } from "../../support/postgres-log.ts";
import { entryOf } from "./log-under-test.ts";

test("what is taken in from others is counted, and leases that are taken and lost", async () => {
  const { postgres, connect } = await logDatabase(["acc_1"]);
  const metrics = createMetrics();
  const log = measureLog(createPostgresLog(postgres, { leaseLasts: 1 }), metrics);
  const other = createPostgresLog(connect());
  const counted = async () => {
    const { sum } = readMetrics(await metrics.text());
    return {
      replayed: sum("ctxd_replayed_entries_total"),
      taken: sum("ctxd_leases_taken_total"),
      lost: sum("ctxd_leases_lost_total"),
    };
  };
  expect(await counted()).toEqual({ replayed: 0, taken: 0, lost: 0 });

  const first = await other.append("acc_1", entryOf("one", { shared: { id: "a", after: 0 } }));
  await other.append("acc_1", entryOf("two", { shared: { id: "b", after: first } }));
  await log.shared.since("acc_1", 0);
  const lease = await log.shared.lease("acc_1", "one");
  if (!lease) throw new Error("another owner has the lease");
  expect(await counted()).toEqual({ replayed: 2, taken: 1, lost: 0 });

  // It lasts a millisecond.
  while (!(await other.shared.lease("acc_1", "two"))) await Bun.sleep(1);
  expect(await log.shared.renew(lease)).toBe(false);
  expect(await counted()).toEqual({ replayed: 2, taken: 1, lost: 1 });
  const checkpoint = { base: "acc_1.x", version: 1, files: [], upTo: first };
  expect(await outcomeOf(log.checkpoint("acc_1", checkpoint, lease))).toThrow();
  expect((await counted()).lost).toBe(2);

  await log.shared.heads(["acc_1"]);
  const { sum } = readMetrics(await metrics.text());
  expect(sum("ctxd_log_lag_seconds")).toBeGreaterThan(0);
});
