import { describe, expect, test } from "bun:test";
import { errorResponse } from "../../src/http/errors.ts";
import { createIdentities } from "../../src/sign-in/providers/provider-sign-in.ts";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { silentLog } from "../support/embedder.ts";
import { addAccount } from "../support/stores.ts";

/** The answer to a request that calls this function. */
async function answerTo(work: () => Promise<unknown>) {
  try {
    await work();
    return 200;
  } catch (error) {
    return errorResponse(error, { log: silentLog, resourceMetadata: "", id: "req_x" }).status;
  }
}

describe.each(DATABASES)("on %s,", (_, place) => {
  test("a write to an account that was just removed answers that the account does not exist", async () => {
    const { db, clock } = await storesOn(place);
    const { oneTimeCodes, recoveryCodes } = createFactors({ db, clock });
    const identities = createIdentities({ db, clock });
    const gone = "acc_gone";
    expect(await answerTo(() => oneTimeCodes.begin(gone))).toBe(404);
    expect(await answerTo(() => recoveryCodes.replace(gone))).toBe(404);
    expect(await answerTo(() => identities.link(gone, { issuer: "x", subject: "7" }))).toBe(404);
  });

  test("a text that is too long for a query does not count as an outage", async () => {
    const { db, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const identities = createIdentities({ db, clock });
    const random = crypto.getRandomValues(new Uint8Array(8_000));
    const identity = { issuer: "x", subject: Buffer.from(random).toString("base64url") };
    expect([200, 422]).toContain(await answerTo(() => identities.link(id, identity)));
    expect(await identities.issuers(id)).toBeArray();
  });
});
