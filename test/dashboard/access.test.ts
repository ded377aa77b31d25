import { afterAll, expect, test } from "bun:test";
import { SCOPES } from "../../src/keys/scopes.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo, type Person } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();

/** Opens a confirmation page and sends its form. */
async function confirm(person: Person, path: string) {
  return person.submit(formTo(await person.visit(path), path));
}

test("a person revokes all access to their own account only", async () => {
  const { accountId, clientId, person, tokens } = await server.connect();
  const { key } = await server.keys.create(accountId, {
    name: "x",
    scopes: SCOPES,
    expiresAt: null,
  });
  const { accountId: otherId } = await server.account();
  const other = await server.keys.create(otherId, { name: "y", scopes: SCOPES, expiresAt: null });
  expect((await person.visit("/account")).text).toContain('href="/account/revoke"');
  const page = await confirm(person, "/account/revoke");
  expect(page.url).toContain("/sign-in");
  expect(await server.use(key)).toBe(401);
  expect(await server.use(tokens.access_token)).toBe(401);
  expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(400);
  expect((await person.visit("/memories")).url).toContain("/sign-in");
  expect(await server.use(other.key)).toBe(200);
  await server.securityLog.flush();
  expect(
    await server.securityLog.list(accountId, { event: "access_revoked" }, { limit: 1 }),
  ).toMatchObject([{ event: "access_revoked", accountId, actorId: null, amount: 4 }]);
});

test("the owner revokes a member's access, disables the account and enables it", async () => {
  const { accountId, person } = await server.signedIn();
  const { key } = await server.keys.create(accountId, {
    name: "x",
    scopes: SCOPES,
    expiresAt: null,
  });
  const path = `/admin/accounts/${accountId}`;
  const revoked = await confirm(owner.person, `${path}/revoke`);
  expect(revoked.text).toContain("2 keys and 0 apps revoked, 1 browser signed out");
  expect(await server.use(key)).toBe(401);
  expect((await person.visit("/memories")).url).toContain("/sign-in");

  const disabled = await confirm(owner.person, `${path}/disable`);
  expect(disabled.text).toContain("disabled <time");
  expect(await server.accounts.admit(accountId)).toBeNull();
  const enabled = await owner.person.submit(formTo(disabled, `${path}/enable`));
  expect(enabled.text).not.toContain("disabled <time");
  expect(await server.accounts.admit(accountId)).not.toBeNull();

  await server.securityLog.flush();
  const events = await server.securityLog.list(accountId, {}, { limit: 10 });
  expect(events.filter(({ actorId }) => actorId === owner.accountId)).toMatchObject([
    { event: "account_enabled" },
    { event: "account_disabled" },
    { event: "access_revoked", amount: 3 },
  ]);
});

test("the owner's account can't be disabled", async () => {
  const { text } = await owner.person.visit(`/admin/accounts/${owner.accountId}`);
  expect(text).toContain(`/admin/accounts/${owner.accountId}/revoke`);
  expect(text).not.toContain(`/admin/accounts/${owner.accountId}/disable`);
  const path = `/admin/accounts/${owner.accountId}/disable`;
  expect((await confirm(owner.person, path)).status).toBe(403);
});
