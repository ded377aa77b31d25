import type { Account, Accounts } from "./accounts.ts";

/** The address of the account that is made when nobody has made one; nobody can sign in with it. */
export const LOCAL_ADDRESS = "local@localhost";

/**
 * The account of whoever works on the server's own machine: the owner's, so that a person's agents
 * and their dashboard share one memory. An empty server gets an owner without a password.
 */
export async function findLocalOwner(
  accounts: Pick<Accounts, "findOwner" | "findByEmail" | "add">,
): Promise<Account> {
  return (
    accounts.findOwner() ??
    accounts.findByEmail(LOCAL_ADDRESS) ??
    (await accounts.add({ email: LOCAL_ADDRESS, password: null }))
  );
}
