import { expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";
import {
  addApp,
  addPasskey,
  addPerson,
  enterPassword,
  formWith,
} from "../sign-in/support/factors.ts";

test("actions with a second factor are recorded, without codes", async () => {
  await using server = await startOAuthServer();
  const { id: accountId } = await addPerson(server);
  const told = async () => {
    await server.securityLog.flush();
    // A repeated event within a minute is counted and not listed again.
    server.clock.advance(61_000);
    const found = (await server.securityLog.list(accountId, {}, { limit: 100 })).reverse();
    return found.splice(read).map(({ event }) => {
      read++;
      return event;
    });
  };
  let read = 0;

  const { person } = await addPasskey(server, accountId);
  expect(await told()).toEqual(["passkey_added", "recovery_codes_created"]);
  await person.submit(formTo(await person.visit("/account"), "/account/recovery-codes"));
  expect(await told()).toEqual(["recovery_codes_created"]);
  await person.submit(formWith(await person.visit("/account"), "id"));
  expect(await told()).toEqual(["passkey_removed"]);

  const { app, codes } = await addApp(server, accountId);
  const { person: other, page } = await enterPassword(server);
  expect(await told()).toEqual([]);
  await other.submit(formWith(page, "code"), { code: "an old secret" });
  expect(await told()).toEqual(["second_step_failed"]);
  await other.submit(formWith(page, "code"), { code: codes[0] ?? "" });
  expect(await told()).toEqual(["recovery_code_used", "signed_in"]);
  server.clock.advance(11 * 60_000);
  const proof = formWith(await other.visit("/proof"), "proof_code");
  await other.submit(proof, { proof_code: "an old secret" });
  expect(await told()).toEqual(["proof_failed"]);
  await other.submit(proof, { proof_code: app.code() });
  await other.submit(formTo(await other.visit("/account"), "/account/app/remove"));
  expect(await told()).toEqual(["second_step_disabled", "sessions_ended"]);

  const kept = JSON.stringify(await server.rows("security_events"));
  for (const secret of ["an old secret", codes[0] ?? "", app.code()]) {
    expect(kept).not.toContain(secret);
  }
});
