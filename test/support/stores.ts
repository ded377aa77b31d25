import { type Accounts, createAccounts } from "../../src/accounts/accounts.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { testClock, testDatabase } from "./database.ts";

/** Accounts and keys on a database in a temporary folder, with a clock that the test moves. */
export function testStores(dataDir?: string) {
  const db = testDatabase(dataDir);
  const clock = testClock();
  return { db, clock, accounts: createAccounts({ db, clock }), keys: createKeys({ db, clock }) };
}

/** Adds an account that has no password, which saves the time of hashing one. */
export async function addAccount(accounts: Accounts, email = "you@example.com") {
  return await accounts.add({ email, password: null });
}
