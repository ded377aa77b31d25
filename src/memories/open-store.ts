import { createMetrics, type Metrics } from "../metrics.ts";
import { openLocalStore } from "./local-store.ts";
import type { QuotaOf } from "./model/quota.ts";
import { openSharedStore } from "./shared-store.ts";
import type { Store } from "./store/store.ts";
import type { StoreOptions } from "./store-options.ts";

/** Bytes of memory for the views of all accounts together: some 1,000,000 memories. */
const ROOM = 1 << 30;

/** Opens the store: in one process at a time, unless several processes share its log. */
export async function openStore({
  metrics = createMetrics(),
  quotaOf = async () => null,
  room = ROOM,
  clock = Date.now,
  ...required
}: Omit<StoreOptions, "metrics" | "quotaOf" | "room" | "clock"> & {
  metrics?: Metrics;
  quotaOf?: QuotaOf;
  room?: number | undefined;
  clock?: () => number;
}): Promise<Store> {
  const { shared } = required.storage.log;
  const options = { ...required, metrics, quotaOf, room, clock };
  return shared ? await openSharedStore(options, shared) : await openLocalStore(options);
}

/**
 * A store that can be used while it is being opened: calls wait until it is open, and fail if opening it
 * fails.
 */
export function deferredStore(opening: Promise<Store>): Store {
  let opened: Store | null = null;
  opening.then(
    (store) => {
      opened = store;
    },
    // Callers that wait receive the error. Without callers it must not count as unhandled.
    () => {},
  );
  return {
    use: async (accountId, task) => (await opening).use(accountId, task),
    drop: async (accountId) => (await opening).drop(accountId),
    bytes: async (accountId) => (await opening).bytes(accountId),
    position: async (accountId) => (await opening).position(accountId),
    usage: async (accountId) => (await opening).usage(accountId),
    accounts: async () => (await opening).accounts(),
    reembedded: () => opened?.reembedded() ?? null,
    lag: () => opened?.lag() ?? 0,
    close: () =>
      opening.then(
        (store) => store.close(),
        () => {},
      ),
  };
}
