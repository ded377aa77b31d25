import { expect, test } from "bun:test";
import type { Postgres } from "../../../src/db/postgres.ts";
import { AnswersTaken, StaleAppendError } from "../../../src/memories/log/log.ts";
import { createPostgresLog } from "../../../src/memories/log/postgres-log.ts";
import type { Lease, LoggedEntry } from "../../../src/memories/log/records.ts";
import { LeaseLost } from "../../../src/memories/log/shared-log.ts";
import { logDatabase } from "../../support/postgres-log.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { entryOf } from "./log-under-test.ts";

/**
 * Processes that append, flush, sweep and read one table in whatever order, stop at any step for longer
 * than a lease or for ever, and go on where they were: nothing is lost, no reader finds a base missing, and
 * in the end nothing is left over. `LONG=1` takes ten minutes over twenty seeds; SEED=n tries another.
 */
const SEEDS = process.env.LONG
  ? Array.from({ length: 20 }, (_, n) => n + 1)
  : [Number(process.env.SEED ?? 1)];
const RUNS = process.env.LONG ? 30_000 : 2_500;
const LEASE = 40;
const PHASE = 50;
const TABLE = "acc_1";

/** A process ends here, as in a crash. */
class Crash extends Error {}

/** Objects of bases: for each, what files it has and the ids of the entries in each. */
type Store = Map<string, Map<string, readonly string[]>>;

interface World {
  store: Store;
  random: Random;
  /** Ids of entries that were answered. */
  answered: Set<string>;
  counts: Record<string, number>;
  connect: () => Postgres;
}

const idsIn = (world: World, base: string, files: readonly string[]) => {
  const there = world.store.get(base);
  if (!files.every((file) => there?.has(file))) return null;
  return files.flatMap((file) => there?.get(file) ?? []);
};

/** Each entry contains the number of the entry that it follows. @throws Error when one is missing between */
function checkOrder(entries: readonly Pick<LoggedEntry, "seq" | "written">[]): void {
  for (const [index, { written }] of entries.entries()) {
    const former = entries[index - 1]?.seq;
    const after = Number(Buffer.from(written ?? []).toString());
    if (former !== undefined && after !== former) throw new Error("an entry follows another one");
  }
}

function createProcess(world: World) {
  const { store, random, counts } = world;
  const log = createPostgresLog(world.connect(), { leaseLasts: LEASE });
  const owner = crypto.randomUUID();
  /** What it has written under the lease that it has. */
  let own: { epoch: number; base: string; files: string[]; version: number } | null = null;

  /** Any moment: mostly nothing happens, sometimes it takes long, seldom it is the last. */
  const moment = async (long = 10) => {
    const choice = random.below(100);
    if (choice < 2) throw new Crash();
    if (choice < 2 + long) await Bun.sleep(random.below(3 * LEASE));
    else if (choice < 30) await Bun.sleep(random.below(5));
  };

  /** All ids that the table has, as a reader finds them out. */
  const read = async (): Promise<{ seq: number; ids: string[]; base: string | null }> => {
    for (;;) {
      const head = await log.head(TABLE);
      if (!head) return { seq: 0, ids: [], base: null };
      await moment(2);
      const { checkpoint } = head;
      const held = checkpoint ? idsIn(world, checkpoint.base, checkpoint.files) : [];
      await moment(2);
      const since = await log.shared.since(TABLE, checkpoint?.upTo ?? 0);
      const isSame = (await log.head(TABLE))?.checkpoint?.base === checkpoint?.base;
      // One that was forgotten meanwhile is no more: another one has its place.
      if (held === null && !isSame) continue;
      if (held === null || !since) throw new Error(`the base ${checkpoint?.base} is not there`);
      // What was trimmed meanwhile is in a later base.
      if (since.upTo > (checkpoint?.upTo ?? 0)) continue;
      checkOrder(since.entries);
      const ids = [...held, ...since.entries.map(({ id }) => id)];
      return { seq: since.seq, ids, base: checkpoint?.base ?? null };
    }
  };

  const append = async () => {
    const { seq } = await read();
    const id = crypto.randomUUID();
    try {
      await log.append(TABLE, entryOf(`${seq}`, { shared: { id, after: seq } }));
      world.answered.add(id);
      counts.appended = (counts.appended ?? 0) + 1;
    } catch (error) {
      if (!(error instanceof StaleAppendError || error instanceof AnswersTaken)) throw error;
      counts.behind = (counts.behind ?? 0) + 1;
    }
  };

  const put = async (base: string, file: string, ids: readonly string[]) => {
    await moment();
    store.set(base, (store.get(base) ?? new Map()).set(file, ids));
    await moment();
  };

  const removeAll = async (bases: readonly string[]) => {
    for (const base of bases) {
      await moment();
      store.delete(base);
      await moment();
      await log.shared.records.gone([base]);
    }
  };

  const write = async (lease: Lease) => {
    const { records } = log.shared;
    const { seq, ids, base: former } = await read();
    if (ids.length === 0) return;
    const file = crypto.randomUUID();
    if (own?.epoch === lease.epoch && own.base === former && random.below(2)) {
      const known = new Set(idsIn(world, own.base, own.files));
      await put(
        own.base,
        file,
        ids.filter((id) => !known.has(id)),
      );
      own = { ...own, files: [...own.files, file], version: own.version + 1 };
      await record(lease, own, seq);
      return;
    }
    const base = `${TABLE}.${crypto.randomUUID()}`;
    await records.begin(base);
    await put(base, file, ids);
    const next = { epoch: lease.epoch, base, files: [file], version: 1 };
    own = null;
    await record(lease, next, seq);
    own = next;
    await moment();
    if (former !== null) await removeAll(await records.condemn([former]));
  };

  const record = async (lease: Lease, next: NonNullable<typeof own>, upTo: number) => {
    const { base, version, files } = next;
    await log.checkpoint(TABLE, { base, version, files, upTo }, lease);
    counts.recorded = (counts.recorded ?? 0) + 1;
  };

  const flush = async () => {
    const lease = await log.shared.lease(TABLE, owner);
    if (!lease) return;
    try {
      await moment();
      await write(lease);
      await moment();
      await log.expunge(TABLE);
    } catch (error) {
      own = null;
      if (!(error instanceof LeaseLost)) throw error;
      counts.lost = (counts.lost ?? 0) + 1;
    }
    // A process that crashes gives nothing back.
    await log.shared.release(lease);
  };

  const sweep = async () => {
    const { records } = log.shared;
    await removeAll(await records.condemned());
    const listed = [...store.keys()];
    await moment();
    const wanted = await records.wanted(listed);
    await moment();
    await removeAll(await records.condemn(listed.filter((base) => !wanted.has(base))));
  };

  /** A reader sees all that was answered before it began, each once. */
  const look = async () => {
    const before = [...world.answered];
    const { ids } = await read();
    const found = new Set(ids);
    expect(ids).toHaveLength(found.size);
    expect(before.filter((id) => !found.has(id))).toEqual([]);
    counts.reads = (counts.reads ?? 0) + 1;
  };

  return { append, flush, sweep, look };
}

async function live(world: World, isOver: () => boolean) {
  let process = createProcess(world);
  while (!isOver()) {
    const { append, flush, sweep, look } = process;
    // For some time nobody does this or that: a lease that ran out is taken by another one, or by none.
    const phases = [
      [append, flush, look],
      [append, sweep, look],
      [append, append, flush, flush, sweep, look],
    ];
    const tasks = phases[Math.floor(performance.now() / PHASE) % phases.length] ?? [];
    const task = tasks[world.random.below(tasks.length)];
    try {
      await task?.();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      world.counts.crashed = (world.counts.crashed ?? 0) + 1;
      process = createProcess(world);
    }
  }
}

test.each(SEEDS)(
  "whenever processes stop, for a while or for ever, nothing is lost and nothing left over, with seed %d",
  async (seed) => {
    const { postgres, connect } = await logDatabase([TABLE]);
    // One pool for all processes that come and go.
    const shared = connect();
    const world: World = {
      ...{ store: new Map(), random: createRandom(seed), answered: new Set(), counts: {} },
      connect: () => shared,
    };
    const end = performance.now() + RUNS;
    await Promise.all(Array.from({ length: 5 }, () => live(world, () => performance.now() > end)));
    const quiet = createProcess({ ...world, random: { ...world.random, below: () => 99 } });
    await quiet.look();
    await Bun.sleep(2 * LEASE);
    await quiet.sweep();
    const [row] = await postgres.rows("SELECT base FROM checkpoints");
    expect([...world.store.keys()]).toEqual(row ? [String(row[0])] : []);
    const left = await postgres.rows("SELECT base FROM bases");
    expect(left).toEqual(row ? [row] : []);
    expect(world.counts.appended).toBeGreaterThan(20);
    expect(world.counts.recorded).toBeGreaterThan(5);
    if (process.env.LONG || process.env.SEED) console.log(seed, world.counts);
  },
  RUNS + 60_000,
);
