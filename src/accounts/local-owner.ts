import type { Account } from "./account.ts";
import type { Accounts } from "./accounts.ts";

/**
 * The account of whoever works on the server's own machine: the owner's, so that a person's agents
 * and their dashboard share one memory. An empty server gets an owner without a password.
 * @throws AppError `conflict` on a server that has accounts and no owner
 */
export async function findLocalOwner(
  accounts: Pick<Accounts, "findOwner" | "addLocalOwner">,
): Promise<Account> {
  return (await accounts.findOwner()) ?? (await accounts.addLocalOwner());
}
