import { createFactors } from "../../../src/sign-in/second-step/factors.ts";
import { toBase32 } from "../../../src/sign-in/second-step/one-time-codes.ts";
import { createCodeApp } from "../../support/code-app.ts";
import { type Place, storesOn } from "../../support/databases.ts";
import { addAccount } from "../../support/stores.ts";

/** The stores of second factors, with two accounts that have none. */
export async function startFactors(place: Place) {
  const { db, clock, accounts } = await storesOn(place);
  const [one, two] = [await addAccount(accounts), await addAccount(accounts, "b@example.com")];
  return { db, clock, accounts, one: one.id, two: two.id, ...createFactors({ db, clock }) };
}

/** Gives the first account a new unconfirmed secret, and returns an authenticator app with that secret. */
export async function createAppFor({
  oneTimeCodes,
  one,
  clock,
}: Awaited<ReturnType<typeof startFactors>>) {
  await oneTimeCodes.begin(one);
  const secret = (await oneTimeCodes.findUnconfirmed(one)) ?? new Uint8Array();
  return createCodeApp(toBase32(secret), clock);
}

/** A passkey as the browser registers it. */
export const passkey = (id: string) => ({
  id,
  publicKey: new Uint8Array([1, 2, 3]),
  counter: 0,
  transports: ["internal", "hybrid"],
  name: "laptop",
});
