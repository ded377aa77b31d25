import { type Account, type Accounts, LOCAL_ADDRESS } from "./accounts.ts";

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
