import { expect, test } from "bun:test";
import type { Store } from "../../../src/memories/store/store.ts";
import { exploreAll, type Schedule } from "../../support/interleavings.ts";
import { createLogState } from "../../support/model-log.ts";
import { ACCOUNT, createModel, NEW, OLD, put, read, remove } from "../../support/model-store.ts";

/**
 * The real stores of several processes take their steps on the log in every order: while one or two of them
 * copy an account's table for another model, others write, flush, and let the lease run out. After each
 * order every answered write is there, whichever process reads. Two processes that both copy have too many
 * orders: there a process is stopped for others twice at most. LONG=1 tries four times.
 */
const ALL = ["a", "b", "c"];
const STOPS = process.env.LONG ? 4 : 2;
const MOST = process.env.LONG ? 2_000_000 : 20_000;
const LIMIT = process.env.LONG ? 7_200_000 : 120_000;

/** By the memories' ids. */
type Texts = Record<string, string>;

interface Processes {
  model: ReturnType<typeof createModel>;
  /** Both have the old model, and the account's table open. */
  old: Store;
  late: Store;
}

/**
 * @param run starts processes and resolves when those that must end have ended
 * @param wanted the memories that must be there in the end
 * @param first those that are there before
 */
async function explore(
  run: (processes: Processes) => Promise<unknown>,
  { wanted, first, stops = null }: { wanted: Texts; first: Texts; stops?: number | null },
): Promise<void> {
  let copied = 0;
  const prepare = async (schedule: Schedule) => {
    const state = createLogState();
    const model = createModel(state, schedule);
    const [old, late] = [await model.open("old", OLD), await model.open("late", OLD)];
    for (const [id, content] of Object.entries(first)) await put(old, id, content);
    await read(late, ALL);
    return {
      start: () => run({ model, old, late }),
      async check() {
        expect(model.recorded()).toEqual(wanted);
        const fresh = await model.open("fresh", OLD);
        for (const store of [old, late, fresh]) expect(await read(store, ALL)).toEqual(wanted);
        // The table that was replaced must not come back.
        const isCurrent = (state.current.get(ACCOUNT)?.name ?? ACCOUNT) === ACCOUNT;
        expect(state.heads.has(ACCOUNT)).toBe(isCurrent);
        if (!isCurrent) copied++;
      },
      close: model.close,
    };
  };
  const orders = await exploreAll(prepare, { most: MOST, stops });
  expect(orders).toBeGreaterThan(50);
  expect(copied).toBe(orders);
  if (process.env.LONG || process.env.SHOW) console.log(orders, "orders", copied, "copied");
}

test(
  "two processes write while a third one copies",
  () =>
    explore(
      async ({ model, old, late }) => {
        await Promise.all([model.open("copier", NEW), put(old, "a", "changed"), remove(late, "b")]);
      },
      { first: { a: "one", b: "two" }, wanted: { a: "changed" } },
    ),
  LIMIT,
);

test(
  "the copying process writes too",
  () =>
    explore(async ({ model }) => await remove(await model.open("copier", NEW), "a"), {
      first: { a: "one", b: "two" },
      wanted: { b: "two" },
    }),
  LIMIT,
);

test(
  "a write is seen by every read that begins after its answer",
  () =>
    explore(
      async ({ model, old, late }) => {
        await model.open("copier", NEW);
        await put(old, "a", "changed");
        expect(await read(late, ALL)).toEqual({ a: "changed", b: "two" });
      },
      { first: { a: "one", b: "two" }, wanted: { a: "changed", b: "two" } },
    ),
  LIMIT,
);

test(
  "another process flushes what the copying one has not read",
  () =>
    explore(
      async ({ model, old }) => {
        const written = put(old, "a", "changed").then(() => model.flush());
        await Promise.all([model.open("copier", NEW), written]);
      },
      { first: { a: "one", b: "two" }, wanted: { a: "changed", b: "two" } },
    ),
  LIMIT,
);

test(
  "the first memory is written while the table is copied and replaced",
  () =>
    explore(
      async ({ model, old, late }) => {
        const first = put(old, "a", "one").then(() => model.open("copier", NEW));
        await Promise.all([first, put(late, "b", "two")]);
      },
      { first: {}, wanted: { a: "one", b: "two" } },
    ),
  LIMIT,
);

test(
  "two processes copy, and one writes",
  () =>
    explore(
      async ({ model, old }) => {
        await Promise.all([model.open("x", NEW), model.open("y", NEW), put(old, "c", "three")]);
      },
      { first: { a: "one" }, wanted: { a: "one", c: "three" } },
    ),
  LIMIT,
);

test(
  "a process loses its lease while it copies, another one copies too, and one writes",
  () =>
    explore(
      async ({ model, old }) => {
        const x = model.open("x", NEW);
        const y = model.endLease().then(() => model.open("y", NEW));
        await Promise.all([x, y, put(old, "a", "changed")]);
      },
      { first: { a: "one" }, wanted: { a: "changed" }, stops: STOPS },
    ),
  LIMIT,
);

test(
  "a process that has lost its lease writes to the finished copy of another one",
  () =>
    explore(
      async ({ model, old }) => {
        const x = await model.open("x", NEW);
        await model.endLease();
        await model.open("y", NEW);
        await put(x, "b", "two");
        expect(await read(old, ALL)).toEqual({ a: "one", b: "two" });
      },
      { first: { a: "one" }, wanted: { a: "one", b: "two" }, stops: STOPS },
    ),
  LIMIT,
);
