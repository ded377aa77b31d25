import { describe, expect, test } from "bun:test";
import type { Postgres } from "../../../src/db/postgres.ts";
import { type Log, StaleAppendError } from "../../../src/memories/log/log.ts";
import { createPostgresLog } from "../../../src/memories/log/postgres-log.ts";
import type { Lease } from "../../../src/memories/log/records.ts";
import { LeaseLost, type SharedLog } from "../../../src/memories/log/shared-log.ts";
import type { Schedule } from "../../support/interleavings.ts";
import { createLogState, modelLog } from "../../support/model-log.ts";
import { logDatabase } from "../../support/postgres-log.ts";
import { until } from "../../support/until.ts";
import { entryOf } from "./log-under-test.ts";

const ACCOUNT = "acc_1";
const COPY = { name: "acc_1.0a0b0c0d", model: "another" };

/** Logs of two processes on one database, and on the model of one. */
const LOGS = {
  async PostgreSQL() {
    const { postgres, connect } = await logDatabase([ACCOUNT]);
    const setCurrent = async (name: string, model: string) => {
      await postgres.rows("DELETE FROM tables WHERE account_id = $1", [ACCOUNT]);
      await postgres.rows("INSERT INTO tables VALUES ($1, $2, $3)", [ACCOUNT, name, model]);
    };
    return { log: createPostgresLog(postgres), other: createPostgresLog(connect()), setCurrent };
  },
  async model() {
    const state = createLogState();
    const schedule: Schedule = { take: async (_, act) => act() };
    const setCurrent = async (name: string, model: string) =>
      void state.current.set(ACCOUNT, { name, model: model || null });
    const [log, other] = [modelLog(state, "one", schedule), modelLog(state, "other", schedule)];
    return { log, other, setCurrent };
  },
};

const after = (number: number, lease?: Lease) => ({
  shared: { id: crypto.randomUUID(), after: number, ...(lease && { lease }) },
});

async function leaseFor(log: Log & { shared: SharedLog }, owner: string): Promise<Lease> {
  const lease = await log.shared.copying.lease(ACCOUNT, owner);
  if (!lease) throw new Error("no lease");
  return lease;
}

const failureOf = (task: Promise<unknown>) =>
  task.then(
    () => null,
    (error) => error,
  );

test("the first entry of a table waits while the table is being replaced, and is refused", async () => {
  const [replaced, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { postgres, connect } = await logDatabase([ACCOUNT]);
  // The transaction has done everything, and is not committed.
  const transaction: Postgres["transaction"] = (task) =>
    postgres.transaction(async (tx) => {
      const result = await task(tx);
      replaced.resolve();
      await answered.promise;
      return result;
    });
  const log = createPostgresLog({ ...postgres, transaction });
  const other = createPostgresLog(connect());
  const seq = await other.append(ACCOUNT, entryOf("one", after(0)));
  const lease = await leaseFor(other, "me");
  await other.append(COPY.name, entryOf("copied", after(0, lease)));
  const replacing = log.shared.replace(ACCOUNT, { from: ACCOUNT, seq, to: COPY }, lease);
  await replaced.promise;
  // This process has opened the table before its first entry.
  const late = failureOf(other.append(ACCOUNT, entryOf("late", after(0))));
  await until("the entry waits", async () => {
    const [row] = await postgres.rows("SELECT count(*) FROM pg_locks WHERE NOT granted");
    return Number(row?.[0]) > 0;
  });
  answered.resolve();
  expect(await replacing).toBe(true);
  expect(await late).toBeInstanceOf(StaleAppendError);
  expect(await other.tables()).toEqual([COPY.name]);
});

describe.each(Object.entries(LOGS))("copies in %s", (_, logs) => {
  test("a lease does not count for the account's current table", async () => {
    const { log, other } = await logs();
    const seq = await log.append(ACCOUNT, entryOf("one", after(0)));
    const lease = await leaseFor(log, "me");
    const copied = await log.append(COPY.name, entryOf("copied", after(0, lease)));
    expect(await log.shared.replace(ACCOUNT, { from: ACCOUNT, seq, to: COPY }, lease)).toBe(true);
    // This process has read which table the account has before it was replaced.
    const next = await leaseFor(other, "you");
    const wrong = other.append(COPY.name, entryOf("wrong", after(copied, next)));
    expect(await failureOf(wrong)).toBeInstanceOf(StaleAppendError);
    const again = other.shared.replace(ACCOUNT, { from: ACCOUNT, seq: 0, to: COPY }, next);
    expect(await failureOf(again)).toBeInstanceOf(LeaseLost);
  });

  test("a table that was dropped and created again does not continue the former one", async () => {
    const { log, other } = await logs();
    await log.append(ACCOUNT, entryOf("one", after(0)));
    const first = await leaseFor(log, "me");
    const before = await log.append(COPY.name, entryOf("copied", after(0, first)));
    expect((await other.shared.since(COPY.name, before))?.entries).toEqual([]);
    await log.shared.copying.release(first);
    expect(await other.shared.forgetCopies(() => false)).toEqual([COPY.name]);
    const second = await leaseFor(log, "you");
    await log.append(COPY.name, entryOf("again", after(0, second)));
    expect(await other.shared.since(COPY.name, before)).toBeNull();
    expect((await other.shared.since(COPY.name, 0))?.entries).toHaveLength(1);
  });

  test("a copy replaces a table that never had an entry", async () => {
    const { log, setCurrent } = await logs();
    await setCurrent(ACCOUNT, "old");
    const lease = await leaseFor(log, "me");
    expect(await log.shared.replace(ACCOUNT, { from: ACCOUNT, seq: 0, to: COPY }, lease)).toBe(
      true,
    );
    expect(await log.current(ACCOUNT)).toEqual(COPY);
  });

  test("a model is recorded only of the account's current table", async () => {
    const { log, setCurrent } = await logs();
    await setCurrent(ACCOUNT, "");
    await log.shared.setModel(ACCOUNT, { name: ACCOUNT, model: "old" });
    expect(await log.current(ACCOUNT)).toEqual({ name: ACCOUNT, model: "old" });
    await setCurrent(COPY.name, COPY.model);
    await log.shared.setModel(ACCOUNT, { name: ACCOUNT, model: "old" });
    expect(await log.current(ACCOUNT)).toEqual(COPY);
  });

  test("a copy replaces a table as long as nobody has written to it or taken the lease", async () => {
    const { log, other } = await logs();
    const first = await log.append(ACCOUNT, entryOf("one", after(0)));
    const lease = await leaseFor(log, "me");
    const copied = await log.append(COPY.name, entryOf("copied", after(0, lease)));
    const second = await other.append(ACCOUNT, entryOf("two", after(first)));
    const replace = (seq: number, by = lease) =>
      log.shared.replace(ACCOUNT, { from: ACCOUNT, seq, to: COPY }, by);
    expect(await replace(first)).toBe(false);
    await log.shared.copying.release(lease);
    const next = await leaseFor(other, "you");
    const late = log.append(COPY.name, entryOf("late", after(copied, lease)));
    expect(await failureOf(late)).toBeInstanceOf(StaleAppendError);
    expect(await failureOf(replace(second))).toBeInstanceOf(LeaseLost);
    expect(await replace(second, next)).toBe(true);
    for (const number of [0, second]) {
      const gone = other.append(ACCOUNT, entryOf("gone", after(number)));
      expect(await failureOf(gone)).toBeInstanceOf(StaleAppendError);
    }
    expect(await other.shared.position(ACCOUNT)).toMatchObject({ table: COPY.name, seq: copied });
  });
});
