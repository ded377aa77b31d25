import { isDiskFull } from "../disk-errors.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Vault } from "./base/vault.ts";
import { createFlush, type Due, type Flush } from "./flush.ts";
import type { Checkpoint } from "./log/log.ts";
import { manifestFile } from "./log/names.ts";
import type { Outcome } from "./log/pending.ts";
import { bytesOf, type Quota, type Usage } from "./quota.ts";
import type { Storage } from "./storage.ts";
import { createTable, type KeptTable, type MemoryTable } from "./table.ts";
import { startUpkeep } from "./upkeep.ts";
import { createWriter, type Writer, WriterEnded } from "./writer.ts";

export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
  /** Of the model that the table's vectors are made by. */
  embedder: Embedder;
}

/** The tables by their names, each opened when it is used. */
export interface OpenTables {
  /**
   * Runs `task` on a table, which stays open meanwhile.
   * @throws WriterEnded when the table is being removed or replaced, once that is done
   */
  use<Result>(name: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /**
   * Runs a task when the last commit of a table is done, and no other comes until the task has
   * ended. If it succeeds, the table is closed, and this resolves when its last user has left.
   */
  end(name: string, task: () => Promise<void>): Promise<void>;
  /** All that are open. */
  opened(): KeptTable[];
  /** Seconds since the oldest change that upkeep has not seen to. */
  lag(): number;
  /** Ends the upkeep and writes what the log has into the bases. */
  close(): Promise<void>;
}

/** Tables that stay open when nobody uses them, each of 100 memories taking some 200 kB. */
const MAX_UNUSED = 128;

interface Opened extends OpenTable {
  table: KeptTable;
  flush: Flush;
}

/** A table that is open, or about to be. */
interface Slot {
  opened: Promise<Opened>;
  /** Once it is open. */
  now: Opened | null;
  users: number;
  /** Resolves when what ends the table is done; null while nothing does. */
  ending: Promise<unknown> | null;
  /** Whether it is to be closed when its last user leaves. */
  hasEnded: boolean;
  closed: PromiseWithResolvers<void>;
  chore: Promise<void>;
}

/** @param room bytes of memory for all views together */
export function createOpenTables({
  storage,
  embedders,
  quotaOf,
  onCommit,
  due,
  room,
  lines,
  metrics,
}: {
  storage: Storage;
  embedders: Embedders;
  /** What a table may hold; null for all. */
  quotaOf: (name: string) => Quota | null;
  /** Is told of every commit of every table. */
  onCommit: (name: string, outcome: Outcome) => void;
  due: Due;
  room: number;
  lines: Lines;
  metrics: Metrics;
}): OpenTables {
  /** In the order of last use. */
  const slots = new Map<string, Slot>();
  const opened = () => [...slots.values()].flatMap(({ now }) => now ?? []);
  const viewBytes = () =>
    opened().reduce((sum, { table }) => sum + (table.view.current?.bytes ?? 0), 0);

  const open = async (name: string, slot: Slot): Promise<Opened> => {
    const table = await openTable(name, {
      storage,
      wanted: embedders.wanted.model,
      largeRows: due.largeRows,
      hasRoom(bytes) {
        if (viewBytes() + bytes > room) closeUnused(bytes);
        return viewBytes() + bytes <= room;
      },
    });
    const writer = createWriter({
      table,
      log: storage.log,
      quotaOf: () => quotaOf(name),
      onCommit: (outcome) => onCommit(name, outcome),
    });
    const flush = createFlush({ table, ...storage, due });
    slot.now = { table, writer, embedder: embedders.of(table.model), flush };
    return slot.now;
  };

  const slotOf = (name: string): Slot => {
    const known = slots.get(name);
    if (known) {
      slots.delete(name);
      slots.set(name, known);
      return known;
    }
    const slot: Slot = {
      opened: Promise.resolve()
        .then(() => open(name, slot))
        .catch((error) => {
          throw unopened(error);
        }),
      now: null,
      users: 0,
      ending: null,
      hasEnded: false,
      closed: Promise.withResolvers(),
      chore: Promise.resolve(),
    };
    slots.set(name, slot);
    return slot;
  };

  const leave = (slot: Slot) => {
    slot.users--;
    if (slot.users === 0 && slot.hasEnded) release(slot);
  };

  /** Has a table closed by its last user. Whoever comes next opens another one. */
  const close = (name: string, slot: Slot) => {
    if (slots.get(name) === slot) slots.delete(name);
    slot.hasEnded = true;
    if (slot.users === 0) release(slot);
  };

  const isUnused = ({ users, now }: Slot) =>
    users === 0 && now !== null && now.flush.isIdle() && !now.table.view.isFilling;

  /** Closes those that were least recently used: all beyond the number that may stay, and as many as hold so many bytes. */
  const closeUnused = (bytes = 0) => {
    let [excess, wanted] = [slots.size - MAX_UNUSED, bytes === 0 ? 0 : viewBytes() + bytes - room];
    for (const [name, slot] of [...slots]) {
      if (excess <= 0 && wanted <= 0) return;
      excess--;
      if (!isUnused(slot)) continue;
      wanted -= slot.now?.table.view.current?.bytes ?? 0;
      close(name, slot);
    }
  };

  const use: OpenTables["use"] = async (name, task) => {
    const slot = slotOf(name);
    slot.users++;
    closeUnused();
    try {
      return await task(await slot.opened);
    } catch (error) {
      // A table that could not be opened is tried again by the next request.
      if (!slot.now && slots.get(name) === slot) slots.delete(name);
      if (error instanceof WriterEnded) await slot.ending;
      throw error;
    } finally {
      leave(slot);
    }
  };

  const upkeep = startUpkeep({
    kept: () => {
      const excess = slots.size - MAX_UNUSED;
      return [...slots].flatMap(([name, slot], index) => {
        const { now, users } = slot;
        if (!now || slot.ending) return [];
        const hold = (task: () => Promise<void>) => {
          slot.users++;
          slot.chore = task().finally(() => leave(slot));
          return slot.chore;
        };
        return { name, flush: now.flush, isInExcess: index < excess && users === 0, hold };
      });
    },
    afterChores: () => closeUnused(),
    log: lines,
    metrics,
  });

  return {
    use,
    opened: () => opened().map(({ table }) => table),
    lag: () => {
      const since = opened().flatMap(({ table, flush }) => [
        table.pending.dirtySince ?? performance.now(),
        flush.remainsSince() ?? performance.now(),
      ]);
      return (performance.now() - Math.min(performance.now(), ...since)) / 1_000;
    },

    async end(name, task) {
      const slot = slotOf(name);
      slot.users++;
      try {
        // One that can't be opened has no writes that could still come.
        const open = await slot.opened.catch(() => null);
        const ending = open ? open.writer.end(task) : task();
        slot.ending = ending.then(() => slot.chore).catch(() => {});
        await ending;
        await slot.chore.catch(() => {});
        close(name, slot);
      } catch (error) {
        slot.ending = null;
        throw error;
      } finally {
        leave(slot);
      }
      await slot.closed.promise;
    },

    async close() {
      await upkeep.stop();
      for (const [name, slot] of slots) {
        const open = await slot.opened.catch(() => null);
        if (open && !open.flush.isIdle()) {
          await open.flush
            .run("flush")
            .catch((error) => lines.error("flush_failed", { table: name, cause: String(error) }));
        }
        close(name, slot);
      }
    },
  };
}

function release({ now, closed }: Slot): void {
  now?.table.view.close();
  closed.resolve(now?.table.base.replace(null));
}

/** Opens a table as its last checkpoint and the log have it. */
async function openTable(
  name: string,
  {
    storage: { log, vault, bases, codec },
    wanted,
    ...limits
  }: {
    storage: Storage;
    wanted: MemoryTable["model"];
    largeRows: number;
    hasRoom: (bytes: number) => boolean;
  },
): Promise<KeptTable> {
  const head = await log.head(name);
  const checkpoint = head?.checkpoint ?? null;
  if (checkpoint) await restoreBase(name, checkpoint, vault);
  const base = checkpoint && (await bases.open(checkpoint));
  const logged = await log.entries(name, checkpoint?.upTo);
  const entries = logged.map(({ seq, written, removed, hasRemains }) => ({
    seq,
    outcome: { written: written ? codec.decode(written) : [], removed, hasRemains },
  }));
  const table = createTable({
    name,
    model: base?.model ?? wanted,
    base,
    entries,
    usage: head?.usage ?? { memories: 0, bytes: 0 },
    seq: head?.seq ?? 0,
    codec,
    ...limits,
  });
  if (head && !head.usage) table.recount(await countUsage(table));
  return table;
}

/** Makes the files of a table's base what its checkpoint says. */
async function restoreBase(
  name: string,
  { base, version, files }: Checkpoint,
  vault: Vault,
): Promise<void> {
  // An earlier version, whose bases are named as their tables, lists files that it removed later: those
  // of older versions. The library misses one that is needed.
  const isOfEarlier = base === name;
  const there = new Set(isOfEarlier ? await vault.files(base) : files);
  const needed = files.filter((file) => there.has(file) || file === manifestFile(version));
  await vault.restore(base, needed);
}

async function countUsage(table: KeptTable): Promise<Usage> {
  const usage = { memories: 0, bytes: 0 };
  for await (const rows of table.rows()) {
    usage.memories += rows.length;
    for (const row of rows) usage.bytes += bytesOf(row);
  }
  return usage;
}

/** What a request is told when a table can't be opened. */
function unopened(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const message = isDiskFull(error)
    ? "The server's disk is full: the memories can't be opened until there is space."
    : "The memories can't be opened now. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}
