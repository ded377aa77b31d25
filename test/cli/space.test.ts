import { expect, test } from "bun:test";
import { createSpaceInvitations } from "../../src/accounts/space-invitations.ts";
import { createSpaces } from "../../src/accounts/spaces.ts";
import { createSecurityLog } from "../../src/security-log/security-log.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { outcomeOf } from "../support/outcome.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { addAccount, testStores } from "../support/stores.ts";

/** Ann and Bob, and the space acme, of which Ann is the admin. */
async function withSpace() {
  const dataDir = temporaryFolder();
  const { db, accounts, keys } = testStores(dataDir);
  // The command line always uses the clock of the system.
  const parts = { db, clock: Date.now };
  const ann = await addAccount(accounts, "ann@example.com");
  const bob = await addAccount(accounts, "bob@example.com");
  const run = (...args: string[]) => ctxd(args, { dataDir });
  const made = await run("space", "create", "acme", "--user", "ann@example.com");
  expect(made).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("ann@example.com") });
  const securityLog = createSecurityLog({ ...parts, log: silentLog });
  return {
    ...{ dataDir, accounts, keys, ann, bob, run },
    id: made.stdout.trimEnd(),
    spaces: createSpaces(parts),
    invitations: createSpaceInvitations(parts),
    events: async () =>
      (await securityLog.list(null, {}, { limit: 50, before: null }))
        .filter(({ event }) => event.startsWith("space_") || event === "quota_changed")
        .map(({ event, subject }) => `${event} ${subject}`)
        .reverse(),
  };
}

test("create makes a space, which list and show print", async () => {
  const { run, id, ann } = await withSpace();
  expect(id).toMatch(/^acc_[0-9a-f]{32}$/);
  const { stdout } = await run("space", "list");
  expect(stdout).toMatch(
    /^ID +NAME +MEMBERS +PROJECTS +STATE\nacc_\w{32} {2}acme {2}1 +- +open\n$/,
  );
  const listed = JSON.parse((await run("space", "list", "--json")).stdout);
  const space = { id, name: "acme", projects: [], members: 1, closed_at: null };
  expect(listed).toEqual([space]);
  const ofBob = await run("space", "list", "--json", "--user", "bob@example.com");
  expect(JSON.parse(ofBob.stdout)).toEqual([]);
  const ofAnn = await run("space", "list", "--json", "--user", "ann@example.com");
  expect(JSON.parse(ofAnn.stdout)).toEqual(listed);

  const shown = await run("space", "show", "acme");
  expect(shown.stdout).toContain(`space     acme (${id}, open)`);
  expect(shown.stdout).toMatch(/ann@example\.com {2}admin {2}\d{4}-/);
  const json = JSON.parse((await run("space", "show", id, "--json")).stdout);
  const admin = { id: ann.id, email: "ann@example.com", role: "admin" };
  expect(json).toMatchObject({ ...space, members: [admin], invitations: [] });
});

test("invite prints a link by which the invited person joins, and nobody else", async () => {
  const { run, bob, ann, spaces, id, invitations, events } = await withSpace();
  const invited = await run("space", "invite", "acme", "--email", "bob@example.com");
  expect(invited.stdout).toMatch(/^http:\/\/localhost:7733\/spaces\/join\/[\w-]{40,}\n$/);
  expect(invited.stderr).toContain("Only bob@example.com can join the space acme");
  const secret = invited.stdout.trim().split("/").at(-1) ?? "";
  expect(invited.stderr).not.toContain(secret);
  expect((await run("space", "show", "acme")).stdout).toContain("bob@example.com  write");
  expect(await outcomeOf(invitations.acceptLink(ann, secret))).toThrow();
  await invitations.acceptLink(bob, secret);
  expect((await spaces.members(id)).map(({ role }) => role)).toEqual(["admin", "write"]);

  await run("space", "invite", id, "--role", "read");
  const [open] = await invitations.list(id);
  expect(open).toMatchObject({ role: "read", email: null });
  const revoked = await run("space", "uninvite", "acme", open?.id ?? "");
  expect(revoked.stderr).toContain("Revoked the invitation");
  expect(await invitations.list(id)).toEqual([]);
  expect(await events()).toEqual([
    "space_created acme",
    "space_invited acme",
    "space_invited acme",
    "space_uninvited acme",
  ]);
});

test("role and remove change the members, and never leave a space without an admin", async () => {
  const { run, bob, spaces, id, invitations, events } = await withSpace();
  const { secret } = await invitations.create(null, id, { email: null, role: "read" });
  await invitations.acceptLink(bob, secret);
  const rolesOf = async () => (await spaces.members(id)).map(({ role }) => role);
  const last = await run("space", "role", "acme", "read", "--user", "ann@example.com");
  expect(last).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("needs an admin") });
  expect((await run("space", "role", "acme", "admin", "--user", "bob@example.com")).exitCode).toBe(
    0,
  );
  expect(await rolesOf()).toEqual(["admin", "admin"]);
  const removed = await run("space", "remove", id, "--user", "ann@example.com");
  expect(removed.stderr).toBe("Removed ann@example.com from the space acme.\n");
  expect(await rolesOf()).toEqual(["admin"]);
  const again = await run("space", "remove", id, "--user", "ann@example.com");
  expect(again.stderr).toBe("ctxd: No member of this space has this account.\n");
  expect(await events()).toEqual([
    "space_created acme",
    "space_role_changed acme",
    "space_left acme",
  ]);
});

test("project, rename, quota, close, open and delete change the space", async () => {
  const { run, ann, spaces, id, events } = await withSpace();
  const two = ["--add", "acme/web", "--add", "acme/api"];
  await run("space", "project", "acme", ...two);
  const changed = await run("space", "project", "acme", "--remove", "acme/web");
  expect(changed.stderr).toBe("Projects that live in the space acme: acme/api.\n");
  const missing = await run("space", "project", "acme", "--remove", "acme/web", "--add", "x");
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("acme/web") });
  expect((await run("space", "project", "acme")).stderr).toContain(": acme/api.");
  const renamed = await run("space", "rename", "acme", "Acme Büro");
  expect(renamed.stderr).toBe("The space acme is called Acme Büro now.\n");
  const quota = await run("space", "quota", "Acme Büro", "--memories", "3");
  expect(quota.stderr).toBe("Acme Büro may store 3 memories and any number of bytes of text.\n");

  const own = async () => (await spaces.admit(ann.id))?.spaces.map(({ name }) => name);
  await run("space", "close", id);
  expect(await own()).toEqual([]);
  expect((await run("space", "list")).stdout).toContain("closed 2");
  expect((await run("space", "close", id)).stderr).toContain("already closed");
  await run("space", "open", id);
  expect(await own()).toEqual(["Acme Büro"]);
  const asked = await run("space", "delete", id);
  expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
  expect((await run("space", "delete", id, "--yes")).stderr).toContain("Deleted");
  expect(await spaces.list()).toEqual([]);
  expect(await events()).toEqual([
    "space_created acme",
    "space_changed acme",
    "space_changed acme",
    "space_changed Acme Büro",
    "quota_changed Acme Büro",
    "space_changed Acme Büro",
    "space_changed Acme Büro",
    "space_deleted Acme Büro",
  ]);
});

test("a name of two spaces is refused with their ids, and an unknown one says what to do", async () => {
  const { run, bob, spaces, id } = await withSpace();
  const twin = await spaces.create(bob.id, "acme");
  const doubtful = await run("space", "delete", "acme", "--yes");
  expect(doubtful.exitCode).toBe(1);
  expect(doubtful.stderr).toBe(
    `ctxd: 2 spaces have this name: give the id of one, ${id} (1 member), ${twin.id} (1 member).\n`,
  );
  const unknown = await run("space", "show", "acne");
  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("ctxd space list"),
  });
});

test.each([
  [["create", "personal"], "must be neither personal"],
  [["create", "a,b"], "comma"],
  [["create", "acc_1"], "acc_"],
])("space %j is refused", async (args, message) => {
  const { run } = await withSpace();
  const refused = await run("space", ...args, "--user", "ann@example.com");
  expect(refused).toMatchObject({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringContaining(message),
  });
});

test("key create --space binds a key to a space of its account, and key list shows it", async () => {
  const { run, id, keys } = await withSpace();
  const create = (user: string, space: string) =>
    run("key", "create", "--user", user, "--name", "team", "--space", space);
  expect((await run("key", "list")).stdout).not.toContain("SPACE");
  const { stdout: key } = await create("ann@example.com", "acme");
  expect(await keys.authenticate(key.trim())).toMatchObject({ spaceId: id });
  expect((await run("key", "list")).stdout).toMatch(/PROJECT {2}SPACE {2}.*\n.* {2}acme {3}/);
  const [listed] = JSON.parse((await run("key", "list", "--json")).stdout);
  expect(listed).toMatchObject({ space: "acme", space_id: id });
  const refused = await create("bob@example.com", "acme");
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("bob@example.com is a member of no open space");
});

test("user remove says which spaces go with the account, and which need another admin", async () => {
  const { run, bob, id, invitations, spaces } = await withSpace();
  const { secret } = await invitations.create(null, id, { email: null, role: "read" });
  await invitations.acceptLink(bob, secret);
  await spaces.create(bob.id, "bikes");
  const removed = await run("user", "remove", "bob@example.com", "--yes");
  expect(removed.stderr).toBe("Removed bob@example.com. Spaces removed with it: bikes.\n");
  expect((await spaces.list()).map(({ name }) => name)).toEqual(["acme"]);
});

test("user remove names the space whose only admin the account is", async () => {
  const { run, ann, bob, invitations, spaces } = await withSpace();
  const { id } = await spaces.create(bob.id, "bikes");
  const { secret } = await invitations.create(null, id, { email: null, role: "read" });
  await invitations.acceptLink(ann, secret);
  const blocked = await run("user", "remove", "bob@example.com", "--yes");
  expect(blocked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("space bikes") });
});

test("spaces of servers that share PostgreSQL are managed in the same way", async () => {
  const server = await sharedPostgres();
  await using database = await server.database();
  // The commands do not use the object store.
  const env = {
    CTXD_DATABASE_URL: database.url,
    CTXD_OBJECTS: "s3://memories/ctxd",
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    AWS_ACCESS_KEY_ID: "key-id",
    AWS_SECRET_ACCESS_KEY: "key-secret",
  };
  const run = (...args: string[]) => ctxd(args, { env, input: "correct horse battery" });
  await run("migrate");
  for (const name of ["ann", "bob"]) await run("user", "add", `${name}@example.com`);
  const made = await run("space", "create", "acme", "--user", "ann@example.com");
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^acc_/) });
  for (const args of [
    ["space", "project", "acme", "--add", "acme/web"],
    ["space", "quota", "acme", "--bytes", "1M"],
    ["space", "invite", "acme", "--email", "bob@example.com"],
    ["space", "rename", "acme", "Büro"],
    ["key", "create", "--user", "ann@example.com", "--name", "team", "--space", "Büro"],
  ]) {
    expect({ args, ...(await run(...args)) }).toMatchObject({ args, exitCode: 0 });
  }
  const shown = JSON.parse((await run("space", "show", "Büro", "--json")).stdout);
  expect(shown).toMatchObject({
    projects: ["acme/web"],
    members: [{ email: "ann@example.com", role: "admin" }],
    invitations: [{ email: "bob@example.com", role: "write" }],
  });
  expect(JSON.parse((await run("key", "list", "--json")).stdout)).toMatchObject([
    { space: "Büro", space_id: shown.id },
  ]);
  expect((await run("space", "delete", "Büro", "--yes")).exitCode).toBe(0);
  expect(JSON.parse((await run("space", "list", "--json")).stdout)).toEqual([]);
  expect(JSON.parse((await run("key", "list", "--json")).stdout)).toEqual([]);
});
