import { expect, test } from "bun:test";
import type { Postgres } from "../../../src/db/postgres.ts";
import { StaleAppendError } from "../../../src/memories/log/log.ts";
import { createPostgresLog } from "../../../src/memories/log/postgres-log.ts";
import type { Checkpoint } from "../../../src/memories/log/records.ts";
import { LeaseLost } from "../../../src/memories/log/shared-log.ts";
import { logDatabase } from "../../support/postgres-log.ts";
import { describeLog } from "./contract.ts";
import { entryOf } from "./log-under-test.ts";

let accounts = 0;
describeLog("a log in PostgreSQL", async () => {
  const { connect, addAccount } = await logDatabase(["acc_0", "acc_1", "acc_2"]);
  let postgres: Postgres;
  return {
    open() {
      postgres = connect();
      return createPostgresLog(postgres);
    },
    crash: () => postgres.close(),
    addAccount: () => addAccount(`acc_new_${++accounts}`),
  };
});

/** Two processes on one database, and what is told of entries. */
async function twoLogs() {
  const { postgres, connect } = await logDatabase(["acc_1", "acc_2"]);
  const log = createPostgresLog(postgres);
  const other = createPostgresLog(connect());
  const after = (number: number, id = crypto.randomUUID()) => ({ shared: { id, after: number } });
  return { postgres, log, other, after };
}

const failureOf = (task: Promise<unknown>) =>
  task.then(
    () => null,
    (error) => error,
  );

test("of entries that are to follow the same one, one is there", async () => {
  const { log, other, after } = await twoLogs();
  for (let last = 0, round = 0; round < 10; round++) {
    const tries = Array.from({ length: 8 }, (_, n) =>
      (n % 2 ? log : other).append("acc_1", entryOf(`${round} ${n}`, after(last))),
    );
    const done = await Promise.allSettled(tries);
    const numbers = done.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    expect(numbers).toHaveLength(1);
    for (const each of done) {
      if (each.status === "rejected") expect(each.reason).toBeInstanceOf(StaleAppendError);
    }
    [last = 0] = numbers;
    const { seq, entries } = (await other.shared.since("acc_1", 0)) ?? {};
    expect([seq, entries?.length]).toEqual([last, round + 1]);
  }
});

test("entries after a number come with what the table holds after each, and with their ids", async () => {
  const { log, other } = await twoLogs();
  expect(await log.shared.since("acc_1", 0)).toBeNull();
  const first = await log.append("acc_1", entryOf("one", { shared: { id: "a", after: 0 } }));
  const usage = { memories: 2, bytes: 6 };
  const second = await log.append(
    "acc_1",
    entryOf("two", { usage, leavesOldData: true, shared: { id: "b", after: first } }),
  );
  const found = await other.shared.since("acc_1", first);
  const entry = {
    seq: second,
    id: "b",
    written: Buffer.from("two"),
    removed: [],
    leavesOldData: true,
  };
  const head = { seq: second, upTo: 0, model: "model" };
  expect(found).toEqual({ ...head, entries: [{ ...entry, usage }] });
  expect(await other.shared.since("acc_1", second)).toEqual({ ...head, entries: [] });
});

test("many entries, or large ones, are read in parts, each at least one", async () => {
  const { log } = await twoLogs();
  const large = "x".repeat(3 << 20);
  for (const text of [large, large, large, `${large}${large}`, "small"]) {
    await log.append("acc_1", entryOf(text));
  }
  const sizes: (number | undefined)[][] = [];
  for (let seq = 0, isAll = false; !isAll; ) {
    const since = await log.shared.since("acc_1", seq);
    sizes.push(since?.entries.map(({ written }) => written?.length) ?? []);
    seq = since?.entries.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
    isAll = seq >= (since?.seq ?? 0);
  }
  expect(sizes).toEqual([[3 << 20, 3 << 20], [3 << 20, 6 << 20], [5]]);
});

test("an account that was removed gets no table, and one that was forgotten does not come back", async () => {
  const { postgres, log, other, after } = await twoLogs();
  const seq = await log.append("acc_1", entryOf("one", after(0)));
  await postgres.rows("DELETE FROM accounts WHERE id = 'acc_1'");
  await other.shared.forgetAccount("acc_1");
  expect(await failureOf(log.append("acc_1", entryOf("two", after(seq))))).toBeInstanceOf(
    StaleAppendError,
  );
  expect(await failureOf(log.append("acc_1", entryOf("two", after(0))))).toBeInstanceOf(
    StaleAppendError,
  );
  expect(await log.shared.position("acc_1")).toBeNull();
  expect(await log.tables()).toEqual([]);
});

test("a position says which table is the account's, and how it stands", async () => {
  const { log, other, after } = await twoLogs();
  const empty = { table: "acc_1", model: null, seq: 0, checkpoint: null };
  expect(await log.shared.position("acc_1")).toEqual(empty);
  const seq = await log.append("acc_1", entryOf("one", after(0)));
  expect(await other.shared.position("acc_1")).toEqual({ ...empty, model: "model", seq });
  expect(await other.shared.heads(["acc_1", "acc_9"])).toEqual([
    { table: "acc_1", seq, checkpoint: null },
  ]);
  expect(await other.shared.position("acc_9")).toBeNull();
});

const checkpointOf = (upTo: number, base: string): Checkpoint => ({
  ...{ base, version: 1, upTo },
  files: ["data/1.lance"],
});

test("a lease is one owner's until it has run out, and its number goes up with each other owner", async () => {
  const { postgres, connect } = await logDatabase(["acc_1"]);
  const [log, other] = [postgres, connect()].map((each) =>
    createPostgresLog(each, { leaseLasts: 300 }),
  );
  if (!log || !other) throw new Error("no logs");
  await log.append("acc_1", entryOf("one"));
  const lease = await log.shared.lease("acc_1", "me");
  if (!lease) throw new Error("no lease");
  expect(await other.shared.lease("acc_1", "you")).toBeNull();
  expect(await log.shared.lease("acc_1", "me, opened again")).toBeNull();
  expect(await log.shared.renew(lease)).toBe(true);
  await log.shared.release(lease);
  // Nobody had it between.
  const again = await log.shared.lease("acc_1", "me");
  expect(again?.epoch).toBe(lease.epoch);
  let taken = null;
  for (let n = 0; taken === null && n < 500; n++) {
    taken = await other.shared.lease("acc_1", "you");
    if (!taken) await Bun.sleep(10);
  }
  expect(taken?.epoch).toBe(lease.epoch + 1);
  expect(await log.shared.renew(lease)).toBe(false);
});

test("what was written under a lease that others have taken over is not recorded, and is to be removed", async () => {
  const { postgres, connect } = await logDatabase(["acc_1"]);
  const log = createPostgresLog(postgres, { leaseLasts: 1 });
  const other = createPostgresLog(connect());
  const upTo = await log.append("acc_1", entryOf("one"));
  const lease = await log.shared.lease("acc_1", "stopped");
  if (!lease) throw new Error("no lease");
  await log.shared.records.begin("acc_1.aaaaaaaa");
  await Bun.sleep(5);
  const taken = await other.shared.lease("acc_1", "another");
  if (!taken) throw new Error("not taken over");
  await other.shared.records.begin("acc_1.bbbbbbbb");
  await other.checkpoint("acc_1", checkpointOf(upTo, "acc_1.bbbbbbbb"), taken);
  const late = log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.aaaaaaaa"), lease);
  expect(await failureOf(late)).toBeInstanceOf(LeaseLost);
  expect(await failureOf(log.shared.records.begin("acc_1.cccccccc"))).toBeInstanceOf(LeaseLost);
  expect((await log.head("acc_1"))?.checkpoint?.base).toBe("acc_1.bbbbbbbb");
  const { records } = other.shared;
  expect(await records.condemned()).toEqual(["acc_1.aaaaaaaa"]);
  expect(await records.wanted(["acc_1.aaaaaaaa", "acc_1.bbbbbbbb"])).toEqual(
    new Set(["acc_1.bbbbbbbb"]),
  );
  await records.gone(["acc_1.aaaaaaaa"]);
  expect(await records.condemned()).toEqual([]);
});

test("likenesses that were found under a lease that others have taken over are not recorded", async () => {
  const { postgres, connect } = await logDatabase(["acc_1"]);
  const log = createPostgresLog(postgres, { leaseLasts: 1 });
  const other = createPostgresLog(connect());
  await log.append("acc_1", entryOf("one"));
  await log.likenesses.note("acc_1", ["mem_1", "mem_2"], []);
  const parcel = (await log.likenesses.state("acc_1")).parcel?.number ?? 0;
  const lease = await log.shared.lease("acc_1", "stopped");
  await Bun.sleep(5);
  const taken = await other.shared.lease("acc_1", "another");
  const found = [{ later: "mem_2", earlier: "mem_1", kind: "same", changedAt: 1 }] as const;
  const record = ({ likenesses }: typeof log, under: typeof lease) =>
    likenesses.record("acc_1", found, { parcel, left: [] }, under);
  expect(await failureOf(record(log, lease))).toBeInstanceOf(LeaseLost);
  expect(await log.likenesses.all("acc_1")).toEqual([]);
  expect((await log.likenesses.state("acc_1")).parcel?.ids).toEqual(["mem_1", "mem_2"]);
  expect(await record(other, taken)).toBe(true);
  expect(await log.likenesses.all("acc_1")).toEqual([...found]);
});

test("a base that another takes the place of is to be removed, and one that was condemned is never recorded", async () => {
  const { log, other } = await twoLogs();
  const upTo = await log.append("acc_1", entryOf("one"));
  const lease = await log.shared.lease("acc_1", "me");
  if (!lease) throw new Error("no lease");
  for (const base of ["acc_1.aaaaaaaa", "acc_1.bbbbbbbb", "acc_1.cccccccc"]) {
    await log.shared.records.begin(base);
  }
  await log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.aaaaaaaa"), lease);
  expect(await other.shared.records.condemned()).toEqual([]);
  await log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.bbbbbbbb"), lease);
  // Whose answer was lost.
  await log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.bbbbbbbb"), lease);
  expect(await other.shared.records.condemned()).toEqual(["acc_1.aaaaaaaa"]);
  const all = ["acc_1.aaaaaaaa", "acc_1.bbbbbbbb", "acc_1.cccccccc", "acc_1.dddddddd"];
  expect((await other.shared.records.condemn(all)).sort()).toEqual([
    "acc_1.aaaaaaaa",
    "acc_1.cccccccc",
    "acc_1.dddddddd",
  ]);
  const record = log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.cccccccc"), lease);
  expect(await failureOf(record)).toBeInstanceOf(LeaseLost);
});

test("a checkpoint never goes back behind the recorded one", async () => {
  const { log } = await twoLogs();
  const first = await log.append("acc_1", entryOf("one"));
  const second = await log.append("acc_1", entryOf("two"));
  const lease = await log.shared.lease("acc_1", "me");
  if (!lease) throw new Error("no lease");
  for (const base of ["acc_1.aaaaaaaa", "acc_1.bbbbbbbb"]) await log.shared.records.begin(base);
  await log.checkpoint("acc_1", checkpointOf(second, "acc_1.aaaaaaaa"), lease);
  const back = log.checkpoint("acc_1", checkpointOf(first, "acc_1.bbbbbbbb"), lease);
  expect(await failureOf(back)).toBeInstanceOf(LeaseLost);
});

test("a table takes another's place only as it was copied, and the former one takes nothing more", async () => {
  const { log, other, after } = await twoLogs();
  const first = await log.append("acc_1", entryOf("one", after(0)));
  const lease = await log.shared.copying.lease("acc_1", "me");
  if (!lease) throw new Error("no lease");
  const to = { name: "acc_1.0a0b0c0d", model: "another" };
  const copy = { id: "copy", after: 0, lease };
  await log.append(to.name, entryOf("copied", { shared: copy }));
  const second = await other.append("acc_1", entryOf("two", after(first)));
  const replace = (seq: number) => log.shared.replace("acc_1", { from: "acc_1", seq, to }, lease);
  expect(await replace(first)).toBe(false);
  expect(await replace(second)).toBe(true);
  expect(await failureOf(replace(second))).toBeInstanceOf(LeaseLost);
  const late = [after(second), after(0), { shared: { ...copy, after: 0 } }];
  for (const more of late) {
    expect(await failureOf(other.append("acc_1", entryOf("late", more)))).toBeInstanceOf(
      StaleAppendError,
    );
  }
  const position = await other.shared.position("acc_1");
  expect(position).toMatchObject({ table: to.name, model: "another" });
  // Who copies without having noticed that it is done.
  const stale = { id: "stale", after: position?.seq ?? 0, lease };
  const staleCopy = other.append(to.name, entryOf("stale", { shared: stale }));
  expect(await failureOf(staleCopy)).toBeInstanceOf(StaleAppendError);
});

test("a copy that nobody writes any more is forgotten, and no one that is written or wanted", async () => {
  const { log, other } = await twoLogs();
  await log.append("acc_1", entryOf("one"));
  const copy = async (name: string) => {
    const lease = await log.shared.copying.lease("acc_1", "me");
    if (!lease) throw new Error("no lease");
    await log.append(name, entryOf("copied", { shared: { id: name, after: 0, lease } }));
    return lease;
  };
  const forget = (wanted = "") => other.shared.forgetCopies((table) => table === wanted);
  const lease = await copy("acc_1.0a0b0c0d");
  expect(await forget()).toEqual([]);
  await log.shared.copying.release(lease);
  expect(await forget("acc_1.0a0b0c0d")).toEqual([]);
  expect(await forget()).toEqual(["acc_1.0a0b0c0d"]);
  expect(await other.tables()).toEqual(["acc_1"]);
  // Who was stopped while it wrote the copy does not make it the account's table.
  const to = { name: "acc_1.0a0b0c0d", model: "another" };
  const seq = (await other.head("acc_1"))?.seq ?? 0;
  const late = log.shared.replace("acc_1", { from: "acc_1", seq, to }, lease);
  expect(await failureOf(late)).toBeInstanceOf(LeaseLost);
  await copy("acc_1.0a0b0c0d");
  expect(await forget()).toEqual([]);
});

test("tables are overdue when nobody has flushed them in time and nobody is about to", async () => {
  const { postgres, connect } = await logDatabase(["acc_1", "acc_2"]);
  const log = createPostgresLog(postgres, { overdue: { flush: 3_600_000, forget: -1 } });
  const other = createPostgresLog(connect());
  await log.append("acc_1", entryOf("one"));
  expect(await other.shared.overdue(10)).toEqual([]);
  const upTo = await log.append("acc_1", entryOf("two", { leavesOldData: true }));
  await log.append("acc_2", entryOf("one"));
  expect(await other.shared.overdue(10)).toEqual(["acc_1"]);
  const lease = await log.shared.lease("acc_1", "me");
  if (!lease) throw new Error("no lease");
  expect(await other.shared.overdue(10)).toEqual([]);
  await log.shared.records.begin("acc_1.aaaaaaaa");
  await log.checkpoint("acc_1", checkpointOf(upTo, "acc_1.aaaaaaaa"), lease);
  await log.shared.release(lease);
  expect(await other.shared.overdue(10)).toEqual([]);
});
