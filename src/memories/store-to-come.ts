import type { Store } from "./store.ts";

/**
 * A store that is being opened, to be used already: calls wait until it is open, and fail when
 * opening it fails.
 */
export function storeToCome(opening: Promise<Store>): Store {
  // Whoever waits for it hears of a failure; it is not an error that nobody does.
  let opened: Store | null = null;
  opening.then(
    (store) => {
      opened = store;
    },
    () => {},
  );
  return {
    use: async (accountId, task) => (await opening).use(accountId, task),
    drop: async (accountId) => (await opening).drop(accountId),
    bytes: async (accountId) => (await opening).bytes(accountId),
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
