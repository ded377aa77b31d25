import type { Accounts } from "../../accounts/accounts.ts";
import type { Log } from "../../log.ts";
import { startLoop } from "../../timing/loop.ts";
import type { Store } from "../store/store.ts";

const CHECK_MS = 10_000;

/**
 * Removes the memories of removed accounts, now and every 10 s: another process may remove an account, and
 * only this one may write to the tables.
 * @returns a function that ends it
 */
export function watchRemovedAccounts({
  store,
  accounts,
  log,
}: {
  store: Pick<Store, "drop">;
  accounts: Pick<Accounts, "removed" | "forget">;
  log: Log;
}): () => void {
  const removeMemories = async () => {
    for (const id of await accounts.removed()) {
      try {
        await store.drop(id);
        await accounts.forget(id);
      } catch (error) {
        // The next round tries again. The other accounts must not wait for it.
        log.error("account_removal_failed", { accountId: id, cause: String(error) });
      }
    }
  };
  const loop = startLoop(async () => {
    await removeMemories().catch((error) => {
      log.warn("removed_accounts_unknown", { cause: String(error) });
    });
    return CHECK_MS;
  });
  return () => void loop.stop();
}
