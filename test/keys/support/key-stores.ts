import type { NewKey } from "../../../src/keys/new-key.ts";
import { SCOPES } from "../../../src/keys/scopes.ts";
import { type Place, storesOn } from "../../support/databases.ts";
import { addAccount } from "../../support/stores.ts";

/** A key with all scopes that does not expire. */
export const NEW_KEY: NewKey = { name: "laptop", scopes: SCOPES, expiresAt: null };

/** The stores on a database of its own, with one account. */
export async function withAccountOn(place: Place) {
  const stores = await storesOn(place);
  return { ...stores, account: await addAccount(stores.accounts) };
}
