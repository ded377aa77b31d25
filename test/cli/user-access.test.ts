import { expect, test } from "bun:test";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { createSessions } from "../../src/sign-in/sessions/sessions.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccount, testStores } from "../support/stores.ts";

test("user disable locks an account until user enable, but not the owner's", async () => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  await addAccount(accounts, "you@example.com");
  const { id } = await addAccount(accounts, "bob@example.com");
  const run = (command: string, email = "bob@example.com") =>
    ctxd(["user", command, email], { dataDir });
  expect(await run("disable")).toMatchObject({ exitCode: 0, stdout: "" });
  expect(await accounts.admit(id)).toBeNull();
  expect((await run("disable")).stderr).toContain("already disabled");
  expect((await ctxd(["user", "list"], { dataDir })).stdout).toContain("member, disabled");
  expect((await run("enable")).exitCode).toBe(0);
  expect((await accounts.admit(id))?.id).toBe(id);
  const refused = await run("disable", "you@example.com");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("The owner of the server can't be disabled");
});

test("user revoke with --yes ends keys, apps and sessions", async () => {
  const dataDir = temporaryFolder();
  const { accounts, keys, db } = testStores(dataDir);
  const { id } = await addAccount(accounts, "you@example.com");
  const { key } = await keys.create(id, {
    name: "laptop",
    scopes: ["memories:read"],
    expiresAt: null,
  });
  const sessions = createSessions({ db, clock: Date.now });
  const session = await sessions.begin(id);
  const refused = await ctxd(["user", "revoke", "you@example.com"], { dataDir });
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(await keys.authenticate(key)).not.toBeNull();
  const done = await ctxd(["user", "revoke", "you@example.com", "--yes"], { dataDir });
  expect(done.stderr).toContain("1 key and 0 apps revoked, 1 browser signed out");
  expect(await keys.authenticate(key)).toBeNull();
  expect(await sessions.findAccount(session)).toBeNull();
});

test("user reset-factor removes second factors and ends sessions, and user list shows them", async () => {
  const dataDir = temporaryFolder();
  const { accounts, db, clock } = testStores(dataDir);
  const { id } = await accounts.add({ email: "you@example.com", password: "correct horse" });
  const factors = createFactors({ db, clock });
  const sessions = createSessions({ db, clock: Date.now });
  const publicKey = new Uint8Array([1]);
  await factors.passkeys.add(id, {
    id: "a",
    publicKey,
    counter: 0,
    transports: [],
    name: "laptop",
  });
  await factors.recoveryCodes.replace(id);
  const session = await sessions.begin(id);

  const list = await ctxd(["user", "list"], { dataDir });
  expect(list.stdout).toMatch(/you@example.com +owner +passkey +/);
  const reset = await ctxd(["user", "reset-factor", "YOU@example.com"], { dataDir });
  expect(reset).toMatchObject({ stdout: "", exitCode: 0 });
  expect(reset.stderr).toContain("the password alone signs in again");
  expect(await factors.isSetUp(id)).toBe(false);
  expect(await factors.recoveryCodes.count(id)).toBe(0);
  expect(await sessions.findAccount(session)).toBeNull();

  const again = await ctxd(["user", "reset-factor", "you@example.com"], { dataDir });
  expect(again.stderr).toContain("has no passkey and no authenticator app");
  const unknown = await ctxd(["user", "reset-factor", "eve@example.com"], { dataDir });
  expect(unknown.exitCode).toBe(1);
});
