import { expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Person } from "../oauth/support/person.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { testSecurityLog } from "../support/security-log.ts";
import { SET_UP_LINK } from "../support/server.ts";
import { addAccount, testStores } from "../support/stores.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "you@example.com";

/** The events since the last call, the oldest first. */
function reader({ securityLog }: Pick<OAuthServer, "securityLog">) {
  let last = 0;
  return async () => {
    await securityLog.flush();
    const found = await securityLog.list(null, {}, { limit: 1_000 });
    const fresh = found.filter(({ id }) => id > last).reverse();
    last = found[0]?.id ?? last;
    return fresh;
  };
}

const names = (events: readonly { event: string }[]) => events.map(({ event }) => event);

async function signIn(person: Person, email: string, password: string) {
  return person.submit(await person.visit("/sign-in"), { email, password });
}

test("sign-in, failed sign-in, lock-out and sign-out", async () => {
  await using server = await startOAuthServer({ config: { rateLimit: true } });
  const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
  const told = reader(server);
  const person = createPerson(server.origin);

  await signIn(person, EMAIL, "my other password");
  await signIn(person, "my secret typed in the wrong field@example.com", PASSWORD);
  const failed = await told();
  expect(failed).toMatchObject([
    { event: "sign_in_failed", accountId, address: "127.0.0.1", via: "browser", subject: null },
    { event: "sign_in_failed", accountId: null, address: "127.0.0.1", subject: null },
  ]);
  expect(JSON.stringify(failed)).not.toMatch(/secret|other/);

  const page = await signIn(person, EMAIL, PASSWORD);
  expect(await told()).toMatchObject([{ event: "signed_in", accountId, address: "127.0.0.1" }]);
  await person.submit(formTo(page, "/sign-out"));
  expect(await told()).toMatchObject([{ event: "signed_out", accountId }]);

  const other = createPerson(server.origin);
  for (let count = 0; count < 12; count++) await signIn(other, EMAIL, "wrong horse");
  expect(names(await told())).toContain("sign_in_locked");
});

test("the set-up of the owner, an invitation and the account that it creates", async () => {
  await using server = await startOAuthServer();
  const told = reader(server);
  const owner = createPerson(server.origin);
  await owner.submit(await owner.visit(SET_UP_LINK), { email: EMAIL, password: PASSWORD });
  const ownerId = (await server.accounts.findOwner())?.id ?? "";
  expect(await told()).toMatchObject([{ event: "owner_set_up", accountId: ownerId }]);

  const page = await owner.visit("/admin");
  const invited = await owner.submit(formTo(page, "/admin/invitations"), { email: "" });
  const link = /http:\/\/[^"]+\/join\/[\w-]+/.exec(invited.text)?.[0] ?? "";
  const [made] = await told();
  expect(made).toMatchObject({ event: "invitation_created", accountId: ownerId });
  expect(link).not.toContain(made?.subjectId ?? "/");

  const member = createPerson(server.origin);
  await member.submit(await member.visit(link), { email: "bob@example.com", password: PASSWORD });
  const memberId = (await server.accounts.findByEmail("bob@example.com"))?.id;
  expect(await told()).toMatchObject([
    { event: "invitation_used", accountId: memberId, subjectId: made?.subjectId },
    { event: "account_created", accountId: memberId },
  ]);

  const removal = `/admin/accounts/${memberId}/remove`;
  await owner.submit(formTo(await owner.visit(removal), removal));
  expect(await told()).toMatchObject([
    { event: "account_removed", accountId: memberId, actorId: ownerId, address: "127.0.0.1" },
  ]);
});

test("keys, and at most one event a minute for a key that is refused", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  const told = reader(server);
  const page = await person.visit("/keys");
  const made = await person.submit(formTo(page, "/keys"), { name: "laptop", expires: "" });
  const key = /ctx_\w{43}/.exec(made.text)?.[0] ?? "";
  const [created] = await told();
  const subject = `${key.slice(0, 8)}… laptop`;
  expect(created).toMatchObject({ event: "key_created", accountId, subject, via: "browser" });

  const revocation = `/keys/${created?.subjectId}/revoke`;
  await person.submit(formTo(await person.visit(revocation), revocation));
  expect(await told()).toMatchObject([
    { event: "key_revoked", subjectId: created?.subjectId, subject },
  ]);

  for (let count = 0; count < 5; count++) expect(await server.use(key)).toBe(401);
  const facts = { event: "key_refused", accountId, subject, via: "api", times: 5 };
  expect(await told()).toMatchObject([facts]);
});

test("allowing an app, the reuse of its refresh token, and revoking it", async () => {
  await using server = await startOAuthServer();
  const told = reader(server);
  const { accountId, clientId, tokens } = await server.connect();
  const app = { accountId, subject: "Example" };
  expect(await told()).toMatchObject([{ event: "app_allowed", ...app, via: "browser" }]);
  await server.renew(clientId, tokens.refresh_token);
  server.clock.advance(3_600_000);
  await server.renew(clientId, tokens.refresh_token);
  expect(await told()).toMatchObject([{ event: "token_reused", ...app, via: "api" }]);

  const other = await server.connect();
  const apps = await other.person.visit("/agents");
  const revocation = /\/agents\/grant_\w+\/revoke/.exec(apps.text)?.[0] ?? "";
  await other.person.submit(formTo(await other.person.visit(revocation), revocation));
  expect(names(await told())).toEqual(["app_allowed", "app_revoked"]);
});

test("exports, imports and deletions by filter, by the API and in the dashboard", async () => {
  await using server = await startOAuthServer();
  const { accountId, person } = await server.signedIn();
  const key = (
    await server.keys.create(accountId, {
      name: "agent",
      scopes: ["memories:read", "memories:write"],
      expiresAt: null,
    })
  ).key;
  const told = reader(server);
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.origin}/api/memories${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
    }).then((response) => response.text());

  const lines = ["one", "two", "three"].map((content) =>
    JSON.stringify({ content, tags: ["secret-tag"] }),
  );
  await ask("/import", { method: "POST", body: lines.join("\n") });
  await ask("/import?dry_run=true", { method: "POST", body: lines.join("\n") });
  await ask("/export");
  await ask("?tags=secret-tag", { method: "DELETE" });
  await person.visit("/memories/export");
  const events = await told();
  expect(events).toMatchObject([
    { event: "memories_imported", accountId, amount: 3, via: "api" },
    { event: "memories_exported", accountId, via: "api" },
    { event: "memories_deleted", accountId, amount: 3 },
    { event: "memories_exported", accountId, via: "browser" },
  ]);
  expect(JSON.stringify(events)).not.toContain("secret");
});

test("changes on the account page", async () => {
  await using server = await startOAuthServer();
  const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(accountId));
  await server.sessions.begin(accountId);
  const told = reader(server);
  const submit = async (action: string, fields: Record<string, string> = {}) =>
    person.submit(formTo(await person.visit("/account"), action), fields);
  await submit("/account/password", { current: "wrong horse", next: "another horse" });
  await submit("/account/sessions/revoke-others");
  await submit("/account/password", { current: PASSWORD, next: "another horse" });
  expect(await told()).toMatchObject([
    { event: "proof_failed", accountId },
    { event: "sessions_ended", accountId, amount: 1 },
    { event: "password_changed", accountId },
  ]);
});

test("changes by the command line", async () => {
  const dataDir = temporaryFolder();
  const { accounts, keys, db, clock } = testStores(dataDir);
  const owner = await addAccount(accounts, EMAIL);
  const bob = ["bob@example.com"];
  const run = async (args: string[], input = "") => {
    expect((await ctxd(args, { dataDir, input })).exitCode).toBe(0);
  };
  await run(["user", "add", ...bob], `${PASSWORD}\n`);
  const accountId = (await accounts.findByEmail("bob@example.com"))?.id;
  await run(["user", "passwd", ...bob], "another horse battery\n");
  await run(["user", "quota", ...bob, "--memories", "10"]);
  await run(["key", "create", "--user", EMAIL, "--name", "laptop"]);
  const [key] = await keys.list(owner.id);
  await run(["key", "revoke", key?.id ?? ""]);
  await run(["user", "remove", ...bob, "--yes"]);
  const { list } = testSecurityLog({ db, clock, log: silentLog });
  const events = (await list(null, {}, { limit: 100 })).reverse();
  expect(events).toMatchObject([
    { event: "account_created", accountId, via: "command", address: null },
    { event: "password_changed", accountId },
    { event: "quota_changed", accountId },
    { event: "key_created", accountId: owner.id, subjectId: key?.id },
    { event: "key_revoked", accountId: owner.id, subjectId: key?.id },
    { event: "account_removed", accountId },
  ]);
});

test("an event is one log line, also if only warnings are logged", () => {
  const lines: string[] = [];
  const log = createLog({ logLevel: "warn", logFormat: "json" }, (line) => lines.push(line));
  const { db, clock } = testStores();
  const { record } = testSecurityLog({ db, clock, log });
  record("sign_in_failed", { accountId: null, via: "browser", address: "2001:db8::7" });
  record("signed_in", { accountId: "acc_1", via: "browser", address: "2001:db8::7" });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", event: "security", kind: "sign_in_failed", address: "2001:db8::7" },
  ]);
});
