import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { isWellFormed } from "../../src/keys/new-key.ts";
import { commandLine, ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccount, testStores } from "../support/stores.ts";

const CREATE = ["key", "create", "--user", "you@example.com", "--name", "laptop"];

async function withAccount() {
  const dataDir = temporaryFolder();
  const stores = testStores(dataDir);
  return { dataDir, ...stores, account: await addAccount(stores.accounts, "you@example.com") };
}

test("key create prints the key and nothing else on standard output", async () => {
  const { dataDir, keys, account } = await withAccount();
  const { stdout, stderr, exitCode } = await ctxd(CREATE, { dataDir });
  expect(exitCode).toBe(0);
  expect(stdout).toEndWith("\n");
  const key = stdout.trimEnd();
  expect(isWellFormed(key)).toBe(true);
  expect(stderr).toContain("shown only this once");
  expect(stderr).not.toContain(key);
  expect(await keys.authenticate(key)).toMatchObject({
    accountId: account.id,
    scopes: ["memories:read", "memories:write"],
  });
});

test("--scope read creates a key that can only read", async () => {
  const { dataDir, keys } = await withAccount();
  const { stdout } = await ctxd([...CREATE, "--scope", "read"], { dataDir });
  expect((await keys.authenticate(stdout.trimEnd()))?.scopes).toEqual(["memories:read"]);
});

test("--scope add creates a key that can only save, and with read one that can also read", async () => {
  const { dataDir, keys } = await withAccount();
  const scopesOf = async (...options: string[]) =>
    (await keys.authenticate((await ctxd([...CREATE, ...options], { dataDir })).stdout.trimEnd()))
      ?.scopes;
  expect(await scopesOf("--scope", "add")).toEqual(["memories:add"]);
  const both = ["memories:read", "memories:add"] as const;
  expect(await scopesOf("--scope", "add", "read")).toEqual([...both]);
  expect(await scopesOf("--scope", "read", "--scope", "add")).toEqual([...both]);
  expect((await ctxd(["key", "list"], { dataDir })).stdout).toMatch(/ {2}read, add {2}/);
});

test("--project binds a key to a project, and key list shows it", async () => {
  const { dataDir, keys } = await withAccount();
  const boundOf = async (...options: string[]) => {
    const { stdout } = await ctxd([...CREATE, "--project", "acme/shop", ...options], { dataDir });
    return (await keys.authenticate(stdout.trimEnd()))?.bound;
  };
  expect(await boundOf()).toEqual({ project: "acme/shop", only: false });
  expect(await boundOf("--project-only")).toEqual({ project: "acme/shop", only: true });
  const { stdout } = await ctxd(["key", "list"], { dataDir });
  expect(stdout).toMatch(/ {2}acme\/shop {7}[^\n]+\n[^\n]+ {2}acme\/shop only {2}/);
  const listed = JSON.parse((await ctxd(["key", "list", "--json"], { dataDir })).stdout);
  expect(listed).toMatchObject([
    { project: "acme/shop", project_only: false },
    { project: "acme/shop", project_only: true },
  ]);
});

test("--expires creates a key that expires", async () => {
  const { dataDir, keys, account } = await withAccount();
  expect((await ctxd([...CREATE, "--expires", "90d"], { dataDir })).exitCode).toBe(0);
  const expiresAt = (await keys.list(account.id))[0]?.expiresAt?.getTime() ?? 0;
  expect(Math.abs(expiresAt - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
});

test.each([
  [["--scope", "write"], "Use one of read, add"],
  [["--expires", "soon"], "12h, 90d, 2w, 1y"],
  [["--expires", "2001-01-01"], "a time in the future"],
  [["--name", " "], "1 to 100 characters"],
  [["--project", ""], "must not be empty"],
  [["--project", "x".repeat(129)], "at most 128 characters"],
  [["--project", "a\u001bb"], "must not contain control or invisible characters"],
  [["--project-only"], "--project-only goes with --project"],
  [["--nonsense"], "unknown option"],
])("key create with %j is wrong usage", async (options, message) => {
  const { dataDir, keys } = await withAccount();
  const refused = await ctxd([...CREATE, ...options], { dataDir });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toStartWith("ctxd: ");
  expect(refused.stderr).toContain(message);
  expect(await keys.listOfAllAccounts()).toEqual([]);
});

test("key create names its missing options", async () => {
  const refused = await ctxd(["key", "create"], { dataDir: temporaryFolder() });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain("--user <email>");
});

test("key create for an unknown account says what to do", async () => {
  const refused = await ctxd(CREATE, { dataDir: temporaryFolder() });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toMatch(/^ctxd: .*ctxd user list.*ctxd user add EMAIL.*\n$/);
});

test("key list shows the state of every key, and no complete key", async () => {
  const { dataDir, keys, account, accounts } = await withAccount();
  const bob = await addAccount(accounts, "bob@example.com");
  const both = ["memories:read", "memories:write"] as const;
  const first = await keys.create(account.id, { name: "日本語", scopes: both, expiresAt: null });
  const second = await keys.create(bob.id, {
    name: "phone",
    scopes: ["memories:read"],
    expiresAt: new Date("2999-01-01T00:00:00Z"),
  });
  await keys.revoke(account.id, first.record.id);

  const { stdout, stderr, exitCode } = await ctxd(["key", "list"], { dataDir });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  const [, one = "", two = ""] = stdout.split("\n");
  expect(one).toMatch(
    /ctx_\w{4}… {2}日本語 {2}you@example.com {2}read, write {2}- {8}- .*revoked 2026/,
  );
  expect(two).toMatch(/ctx_\w{4}… {2}phone {3}bob@example.com {2}read {9}- {8}- .*expires 2999/);

  const json = await ctxd(["key", "list", "--json", "--user", "Bob@example.com"], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual([
    {
      user: "bob@example.com",
      id: second.record.id,
      account_id: bob.id,
      prefix: second.key.slice(0, 8),
      name: "phone",
      scopes: ["memories:read"],
      project: null,
      project_only: false,
      space: null,
      space_id: null,
      created_at: "2026-01-01T00:00:00.000Z",
      last_used_at: null,
      expires_at: "2999-01-01T00:00:00.000Z",
      revoked_at: null,
      paused_at: null,
    },
  ]);
  expect(stdout + json.stdout).not.toContain(first.key.slice(0, 12));
});

test("key revoke ends a key, and reports one that has ended", async () => {
  const { dataDir, keys, account } = await withAccount();
  const { key, record } = await keys.create(account.id, {
    name: "laptop",
    scopes: ["memories:read"],
    expiresAt: null,
  });
  expect(await keys.authenticate(key)).not.toBeNull();
  const revoked = await ctxd(["key", "revoke", record.id], { dataDir });
  expect(revoked).toEqual({ stdout: "", stderr: `Revoked ${record.id} (laptop).\n`, exitCode: 0 });
  expect(await keys.authenticate(key)).toBeNull();
  const again = await ctxd(["key", "revoke", record.id], { dataDir });
  expect(again).toMatchObject({ exitCode: 0 });
  expect(again.stderr).toContain("revoked already");
});

test.each(["key_unknown", "' OR 1=1 --"])("key revoke %s revokes nothing", async (id) => {
  const { dataDir, keys, account } = await withAccount();
  const wanted = { name: "laptop", scopes: ["memories:read"], expiresAt: null } as const;
  const { key } = await keys.create(account.id, wanted);
  const refused = await ctxd(["key", "revoke", id], { dataDir });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toContain("ctxd key list");
  expect(await keys.authenticate(key)).not.toBeNull();
});

test.skipIf(process.platform !== "linux")("a key that can't be printed is revoked", async () => {
  const { dataDir, keys, account } = await withAccount();
  const child = Bun.spawn(commandLine(CREATE, { dataDir }), {
    stdout: openSync("/dev/full", "w"),
    stderr: "pipe",
    env: {},
  });
  expect(await child.stderr.text()).toMatch(/^ctxd: The key could not be written .*\n$/);
  expect(await child.exited).toBe(1);
  expect((await keys.list(account.id))[0]?.revokedAt).not.toBeNull();
});
