import { type Account, type Accounts, createAccounts } from "../accounts/accounts.ts";
import { createQuotas, type Quotas } from "../accounts/quotas.ts";
import type { Config } from "../config.ts";
import { databasePath, openDatabase } from "../db/database.ts";
import { explainDatabaseError } from "../db/database-error.ts";
import { createKeys, type Keys } from "../keys/keys.ts";
import { createGrants, type Grants } from "../oauth/grants.ts";
import { CommandError } from "./failure.ts";

/**
 * Opens accounts, keys and grants for as long as `use` takes.
 * @throws DatabaseError when the database can't be used
 */
export async function withStores<T>(
  { dataDir }: Pick<Config, "dataDir">,
  use: (stores: { accounts: Accounts; quotas: Quotas; keys: Keys; grants: Grants }) => Promise<T>,
): Promise<T> {
  const path = databasePath(dataDir);
  const db = openDatabase(path);
  try {
    const clock = Date.now;
    return await use({
      accounts: createAccounts({ db, clock }),
      quotas: createQuotas({ db }),
      keys: createKeys({ db, clock }),
      grants: createGrants({ db, clock }),
    });
  } catch (error) {
    throw explainDatabaseError(error, path) ?? error;
  } finally {
    db.close();
  }
}

/** The account with an address, or an error that says how to get one. */
export function requireAccount(accounts: Accounts, email: string): Account {
  const account = accounts.findByEmail(email);
  if (account) return account;
  throw new CommandError(
    "No account has this e-mail address: ctxd user list shows all, ctxd user add EMAIL adds one.",
  );
}
