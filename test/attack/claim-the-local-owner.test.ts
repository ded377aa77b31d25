import { describe, expect, test } from "bun:test";
import { findLocalOwner } from "../../src/accounts/accounts.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";
import { startWithProvider } from "../sign-in/support/openid-provider.ts";
import { startBridge, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { SET_UP_LINK } from "../support/server.ts";
import { testStores } from "../support/stores.ts";

const OWNER = "you@example.com";
const MEMBER = "ada@example.com";
const LOCAL = "local@localhost";
const PASSWORD = "correct horse";
const REFUSAL = "local@localhost belongs to the local agents of this machine";

describe("nobody can get the address of the local owner", () => {
  test.each([LOCAL, " Local@LocalHost "])("by an invitation or a sign-up: %j", async (email) => {
    await using server = await startOAuthServer({ config: { registration: "open" } });
    await server.accounts.add({ email: OWNER, password: null });
    const { secret } = await server.invitations.create(null);
    for (const path of [`/join/${secret}`, "/sign-up"]) {
      const eve = createPerson(server.origin);
      const page = await eve.submit(await eve.visit(path), { email, password: PASSWORD });
      expect(page.status).toBe(422);
      expect(page.text).toContain("local@localhost belongs to the local agents");
    }
    expect(await outcomeOf(server.invitations.create(email))).toThrow(REFUSAL);
    expect(await server.accounts.findByEmail(LOCAL)).toBeNull();
  });

  test("by an invitation from the owner", async () => {
    await using server = await startOAuthServer();
    const { person } = await server.signedIn();
    const form = formTo(await person.visit("/admin"), "/admin/invitations");
    expect((await person.submit(form, { email: LOCAL })).status).toBe(422);
    expect(await server.invitations.list()).toEqual([]);
  });

  test("by an invitation of an earlier version", async () => {
    await using server = await startOAuthServer();
    await server.accounts.add({ email: OWNER, password: null });
    const { secret, invitation } = await server.invitations.create(MEMBER);
    server.db.sqlite.run("UPDATE invitations SET email = ? WHERE id = ?", [LOCAL, invitation.id]);
    const eve = createPerson(server.origin);
    const page = await eve.submit(await eve.visit(`/join/${secret}`), { password: PASSWORD });
    expect(page.status).toBe(422);
    expect(await server.accounts.findByEmail(LOCAL)).toBeNull();
  });

  test("at the set-up", async () => {
    await using server = await startOAuthServer();
    const eve = createPerson(server.origin);
    const page = await eve.visit(SET_UP_LINK);
    expect((await eve.submit(page, { email: LOCAL, password: PASSWORD })).status).toBe(422);
    expect(await server.accounts.list()).toEqual([]);
  });

  test("through a provider that verified it", async () => {
    const [started, provider] = await startWithProvider("Provider", { registration: "open" });
    await using server = started;
    await server.accounts.add({ email: OWNER, password: null });
    const eve = createPerson(server.origin);
    const { location } = await eve.visit("/sign-in/with/oidc");
    const claims = { email: LOCAL, email_verified: true };
    const page = await eve.visit(await provider.signIn(location, "eve", claims));
    expect(page.status).toBe(422);
    expect(await server.accounts.findByEmail(LOCAL)).toBeNull();
    await provider.close();
  });

  test("on the command line", async () => {
    const dataDir = temporaryFolder();
    const added = await ctxd(["user", "add", LOCAL], { dataDir, input: `${PASSWORD}\n` });
    expect(added).toMatchObject({ stdout: "", exitCode: 2 });
    expect(added.stderr).toContain(REFUSAL);
    expect(await testStores(dataDir).accounts.list()).toEqual([]);
  });
});

/** A data folder of an earlier version: members, one of them with the local address, and no owner. */
function folderWithoutOwner() {
  const dataDir = temporaryFolder();
  const { db, accounts } = testStores(dataDir);
  const insert = db.sqlite.query(
    "INSERT INTO accounts (id, email, role, created_at) VALUES (?, ?, 'member', 0)",
  );
  insert.run("acc_1", LOCAL);
  insert.run("acc_2", MEMBER);
  return { dataDir, accounts };
}

describe("an account that already has this address", () => {
  test("is not the local owner when there is no owner", async () => {
    const { accounts } = folderWithoutOwner();
    expect(await outcomeOf(findLocalOwner(accounts))).toThrow("ctxd user owner EMAIL");
    expect((await accounts.list()).map(({ role }) => role)).toEqual(["member", "member"]);
    expect(await accounts.isSetUp()).toBe(true);
  });

  test("is not renamed by `user add` or the set-up", async () => {
    const { dataDir, accounts } = folderWithoutOwner();
    const input = `${PASSWORD}\n`;
    await ctxd(["user", "add", "new@example.com"], { dataDir, input });
    expect(await accounts.findByEmail(LOCAL)).toMatchObject({ id: "acc_1", role: "member" });
    const wanted = { email: "other@example.com", password: PASSWORD };
    expect(await rejectionOf(accounts.setUp(wanted))).toMatchObject({ code: "conflict" });
    expect(await accounts.findByEmail(LOCAL)).toMatchObject({ id: "acc_1", role: "member" });
  });

  test("receives no memories of local agents, which get the instructions to create an owner", async () => {
    const { dataDir, accounts } = folderWithoutOwner();
    const bridge = startBridge(dataDir);
    const refused = await bridge.call("save_memory", { content: "a secret of the owner's" });
    expect(JSON.stringify(refused)).toContain("ctxd user owner EMAIL");
    const examined = await ctxd(["doctor"], { dataDir, env: { CTXD_PORT: "0" } });
    expect(examined.stdout + examined.stderr).toContain("there are accounts but no owner");
    const named = await ctxd(["user", "owner", MEMBER], { dataDir });
    expect(named).toMatchObject({ stdout: "", exitCode: 0 });
    expect(await accounts.findOwner()).toMatchObject({ id: "acc_2" });
    const saved = await bridge.call("save_memory", { content: "for the owner" }, 2);
    expect(JSON.stringify(saved)).toContain("mem_");
    await bridge.end();
    await stopServer(dataDir);
  });
});

describe("the owner can't be removed while others have accounts", () => {
  test("on the command line", async () => {
    const dataDir = temporaryFolder();
    const { accounts } = testStores(dataDir);
    await accounts.add({ email: OWNER, password: null });
    await accounts.add({ email: MEMBER, password: null });
    const removed = await ctxd(["user", "remove", OWNER, "--yes"], { dataDir });
    expect(removed).toMatchObject({ stdout: "", exitCode: 1 });
    expect(removed.stderr).toContain("ctxd user owner EMAIL");
    expect(await accounts.findOwner()).toMatchObject({ email: OWNER });
    await ctxd(["user", "remove", MEMBER, "--yes"], { dataDir });
    expect(await ctxd(["user", "remove", OWNER, "--yes"], { dataDir })).toMatchObject({
      exitCode: 0,
    });
    expect(await accounts.list()).toEqual([]);
  });

  test("in the dashboard", async () => {
    await using server = await startOAuthServer();
    const { person, accountId } = await server.signedIn();
    const path = `/admin/accounts/${accountId}/remove`;
    const page = await person.visit(path);
    expect(page.status).toBe(403);
    expect(page.text).toContain("ctxd user owner EMAIL");
  });
});

test("an invitation of a removed owner makes nobody the owner", async () => {
  await using server = await startOAuthServer();
  const { id } = await server.accounts.add({ email: OWNER, password: null });
  const [used, open] = [
    await server.invitations.create(null),
    await server.invitations.create(null),
  ];
  const eve = createPerson(server.origin);
  const page = await eve.visit(`/join/${used.secret}`);
  await server.accounts.remove(id);
  expect(await server.invitations.list()).toEqual([]);
  const wanted = { email: "eve@example.com", password: PASSWORD };
  expect((await eve.submit(page, wanted)).status).toBe(404);
  expect((await eve.visit(`/join/${open.secret}`)).text).toContain("is not valid");
  // Not even an invitation that is restored with an old copy of the database.
  const { secret } = await server.invitations.create(null);
  expect((await eve.submit(await eve.visit(`/join/${secret}`), wanted)).status).toBe(403);
  expect(await server.accounts.list()).toEqual([]);
});

describe("making another account the owner", () => {
  test("leaves one owner, immediately and in a running server", async () => {
    await using server = await startOAuthServer();
    const owner = await server.signedIn();
    const member = await server.signedIn();
    const { email = "" } = (await server.accounts.find(member.accountId)) ?? {};
    expect((await member.person.visit("/admin")).status).toBe(403);
    const done = await ctxd(["user", "owner", email.toUpperCase()], { dataDir: server.folder });
    expect(done).toMatchObject({ stdout: "", exitCode: 0 });
    expect(done.stderr).toContain(`${email} owns this server now`);
    expect(done.stderr).toContain("local agents");
    expect((await member.person.visit("/admin")).status).toBe(200);
    expect((await owner.person.visit("/admin")).status).toBe(403);
    expect(await findLocalOwner(server.accounts)).toMatchObject({ id: member.accountId });
    expect((await server.accounts.list()).map(({ role }) => role)).toEqual(["member", "owner"]);
  });

  test("changes nothing for an unknown account and for the owner", async () => {
    const dataDir = temporaryFolder();
    const { accounts } = testStores(dataDir);
    await accounts.add({ email: OWNER, password: null });
    const nobody = await ctxd(["user", "owner", MEMBER], { dataDir });
    expect(nobody).toMatchObject({ stdout: "", exitCode: 1 });
    expect(nobody.stderr).toContain("No account has this e-mail address");
    const same = await ctxd(["user", "owner", OWNER], { dataDir });
    expect(same).toMatchObject({ stdout: "", exitCode: 0 });
    expect(same.stderr).toContain("already owns this server");
    expect(await accounts.findOwner()).toMatchObject({ email: OWNER });
  });
});
