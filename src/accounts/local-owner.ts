import type { Account } from "./account.ts";
import type { Accounts } from "./accounts.ts";

/**
 * The account of local agents: the owner's, so that a person's agents and dashboard share their
 * memories. An empty server gets an owner without a password.
 * @throws AppError `conflict` on a server that has accounts but no owner
 */
export async function findLocalOwner(
  accounts: Pick<Accounts, "findOwner" | "addLocalOwner">,
): Promise<Account> {
  return (await accounts.findOwner()) ?? (await accounts.addLocalOwner());
}
