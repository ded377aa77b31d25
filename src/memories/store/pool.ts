import { AppError } from "../../errors.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { PooledTable } from "./pooled-table.ts";

/** A table that is open, or is being opened. */
export interface PoolItem {
  readonly name: string;
  opening: Promise<PooledTable>;
  /** `null` until it is open. */
  value: PooledTable | null;
  users: number;
  /** Whether it closes when its last user releases it. */
  isRetired: boolean;
  closed: PromiseWithResolvers<void>;
}

/** Milliseconds that a request waits for its table. The server closes connections that are idle for 30 s. */
const OPENING_TIMEOUT_MS = 20_000;

/**
 * The table of an item. A replica may have to fetch gigabytes first; it opens the table for later requests.
 * @throws AppError `unavailable` when it takes longer than `limit` milliseconds
 */
export function openedTable(
  { value, opening }: Pick<PoolItem, "value" | "opening">,
  limit = OPENING_TIMEOUT_MS,
): PooledTable | Promise<PooledTable> {
  return value ?? withTimeLimit(opening, limit, stillOpening);
}

function stillOpening(): never {
  const message = "The memories of this account are still being loaded. Try again in a moment.";
  throw new AppError("unavailable", message, { retryAfter: 5 });
}

/**
 * Open tables by name, in the order of last use. The first user opens a table. A retired one closes when its
 * last user has released it; the next user then opens it again.
 */
export function createPool(
  open: (name: string) => Promise<PooledTable>,
  close: (table: PooledTable) => Promise<void>,
) {
  const items = new Map<string, PoolItem>();

  const newItem = (name: string): PoolItem => {
    const item: PoolItem = {
      name,
      opening: Promise.resolve()
        .then(() => open(name))
        .then((value) => {
          item.value = value;
          return value;
        }),
      value: null,
      users: 0,
      isRetired: false,
      closed: Promise.withResolvers(),
    };
    // The next user tries again.
    item.opening.catch(() => items.get(name) === item && items.delete(name));
    return item;
  };

  const closeItem = ({ value, closed }: PoolItem) =>
    closed.resolve(value ? close(value) : undefined);

  /** Keeps an item open until a task ends, without counting as a use. */
  const hold = async <Result>(item: PoolItem, task: () => Promise<Result>): Promise<Result> => {
    item.users++;
    try {
      return await task();
    } finally {
      item.users--;
      if (item.users === 0 && item.isRetired) closeItem(item);
    }
  };

  return {
    hold,

    /** Runs a task on an item, which stays open meanwhile. The task waits for `opening` itself. */
    use<Result>(name: string, task: (item: PoolItem) => Promise<Result>): Promise<Result> {
      const item = items.get(name) ?? newItem(name);
      items.delete(name);
      items.set(name, item);
      return hold(item, () => task(item));
    },

    /** Closes an item as soon as nobody uses it. */
    retire(item: PoolItem): void {
      if (items.get(item.name) === item) items.delete(item.name);
      if (item.isRetired) return;
      item.isRetired = true;
      if (item.users === 0) closeItem(item);
    },

    get size() {
      return items.size;
    },
    get: (name: string): PoolItem | undefined => items.get(name),

    /** The least recently used first. */
    all: (): PoolItem[] => [...items.values()],
  };
}

/**
 * Unused tables that stay open for each GiB of room for views, and at least. A table of 100 memories takes
 * some 500 kB.
 */
const UNUSED_PER_GIB = 48;
const GIB = 2 ** 30;
/**
 * Limit of open tables, in multiples of the unused ones. A table must be flushed before it closes; at this
 * limit, a table opens only after another one has closed.
 */
const OPEN_PER_UNUSED = 2;
/** Milliseconds that a request waits for that, and between two checks. */
const PLACE_TIMEOUT_MS = 10_000;
const PLACE_CHECK_MS = 50;

/**
 * Closes unused tables of a pool, the least recently used first, so that few are open and their views fit
 * into memory.
 * @param viewMemory bytes of memory for all views
 * @param mayCloseUnflushed whether another process can flush a table that is closed here
 */
export function createPoolLimits(
  pool: ReturnType<typeof createPool>,
  { viewMemory, mayCloseUnflushed }: { viewMemory: number; mayCloseUnflushed: boolean },
) {
  const maxUnused = Math.max(UNUSED_PER_GIB, Math.floor((viewMemory / GIB) * UNUSED_PER_GIB));

  const viewBytes = () =>
    pool.all().reduce((sum, { value }) => sum + (value?.table.viewBytes() ?? 0), 0);

  const isUnused = ({ users, value }: PoolItem) =>
    users === 0 &&
    value !== null &&
    !value.table.view.isFilling &&
    (mayCloseUnflushed || value.flush.isIdle());

  /** Closes the tables beyond the limit, and further ones until enough bytes of views are freed. */
  const closeUnused = (bytesToFree = 0) => {
    let excess = pool.size - maxUnused;
    let bytes = bytesToFree;
    // Each request calls this: mostly there is nothing to do.
    if (excess <= 0 && bytes <= 0) return;
    for (const item of pool.all()) {
      if (excess-- <= 0 && bytes <= 0) return;
      if (!isUnused(item)) continue;
      bytes -= item.value?.table.viewBytes() ?? 0;
      pool.retire(item);
    }
  };

  return {
    closeUnused,

    /** Closes unused tables to make room for a view of this size. @returns whether it fits then */
    makeRoom(bytes: number): boolean {
      closeUnused(viewBytes() + bytes - viewMemory);
      return viewBytes() + bytes <= viewMemory;
    },

    /**
     * Waits until a table may be opened.
     * @throws AppError `unavailable` when too many stay open
     */
    async waitForPlace(name: string): Promise<void> {
      closeUnused();
      const end = performance.now() + PLACE_TIMEOUT_MS;
      while (!pool.get(name) && pool.size >= OPEN_PER_UNUSED * maxUnused) {
        if (performance.now() > end) throw tooManyBusy();
        await Bun.sleep(PLACE_CHECK_MS);
        closeUnused();
      }
    },

    /** Unused tables beyond the limit, which can't close before they are flushed. */
    inExcess: (): Set<PoolItem> => {
      if (mayCloseUnflushed) return new Set();
      const oldest = pool.all().slice(0, Math.max(0, pool.size - maxUnused));
      return new Set(oldest.filter(({ users }) => users === 0));
    },
  };
}

function tooManyBusy() {
  const message = "Too many accounts are busy at the same time. Try again in a moment.";
  return new AppError("unavailable", message, { retryAfter: 5 });
}
