import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { withRealPasswords } from "../support/quick-passwords.ts";
import { addAccount, testStores } from "../support/stores.ts";

const PASSWORD = "correct horse battery";

/** All bytes below a folder, as one text. */
function readFolder(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");
}

describe.each(DATABASES)("accounts on %s", (_, place) => {
  test("the first account is the owner, others are members", async () => {
    const { accounts, clock } = await storesOn(place);
    const owner = await addAccount(accounts, "you@example.com");
    const member = await addAccount(accounts, "bob@example.com");
    expect(owner).toMatchObject({ email: "you@example.com", role: "owner" });
    expect(owner.id).toMatch(/^acc_[0-9a-f]{12}7[0-9a-f]{19}$/);
    expect(owner.createdAt.getTime()).toBe(clock());
    expect(member.role).toBe("member");
    expect(await accounts.list()).toEqual([owner, member]);
  });

  test("an account is found by id and by e-mail address, in upper or lower case", async () => {
    const { accounts } = testStores();
    const account = await addAccount(accounts, "  You@Example.COM ");
    expect(account.email).toBe("you@example.com");
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await accounts.findByEmail(" YOU@example.com")).toEqual(account);
    expect(await accounts.find("acc_unknown")).toBeNull();
    expect(await accounts.findByEmail("bob@example.com")).toBeNull();
  });

  test("two accounts can't have the same e-mail address, in upper or lower case", async () => {
    const { accounts } = testStores();
    await addAccount(accounts, "you@example.com");
    expect(await rejectionOf(addAccount(accounts, "YOU@example.com"))).toMatchObject({
      code: "conflict",
    });
    expect(await accounts.list()).toHaveLength(1);
  });

  test.each(["o'brien@example.com", "a@localhost", "a+b@x.co", `${"a".repeat(242)}@example.com`])(
    "%s is an address",
    async (email) => {
      const { accounts } = testStores();
      expect((await addAccount(accounts, email)).email).toBe(email);
    },
  );

  test.each([
    "",
    "account",
    "@example.com",
    "account@",
    "account@@example.com",
    "you@example.com\u0000",
    "account@exam\nple.com",
    "you@example..com",
    "account lovelace@example.com",
    "\u0430da@example.com",
    "' OR 1=1 --",
    `${"a".repeat(243)}@example.com`,
  ])("%j is no address", async (email) => {
    const { accounts } = testStores();
    expect(await rejectionOf(addAccount(accounts, email))).toMatchObject({
      code: "validation_failed",
      details: [{ path: "/email" }],
    });
    expect(await accounts.list()).toEqual([]);
  });

  test.each(["' OR '1'='1", "'; DROP TABLE accounts; --", "\\", "%", "a@b' --", "\u0000"])(
    "%j finds no account, signs nobody in and removes nobody",
    async (hostile) => {
      const { accounts } = testStores();
      const account = await accounts.add({ email: "you@example.com", password: PASSWORD });
      expect(await accounts.find(hostile)).toBeNull();
      expect(await accounts.findByEmail(hostile)).toBeNull();
      expect(await accounts.verifyPassword(hostile, PASSWORD)).toBeNull();
      expect(await outcomeOf(accounts.remove(hostile))).toThrow("No account");
      expect(await accounts.list()).toEqual([account]);
    },
  );

  test("SQL in an e-mail address is not executed", async () => {
    const { accounts } = testStores();
    await addAccount(accounts, "you@example.com");
    const hostile = await addAccount(accounts, "'or'1'='1'--@example.com");
    expect(await accounts.findByEmail("'or'1'='1'--@example.com")).toEqual(hostile);
    await accounts.remove(hostile.id);
    expect(await accounts.list()).toHaveLength(1);
  });

  test.each([7, 1_025])("a password of %i characters is refused", async (length) => {
    const { accounts } = testStores();
    const password = "🔑".repeat(length);
    expect(await rejectionOf(accounts.add({ email: "you@example.com", password }))).toMatchObject({
      code: "validation_failed",
      message: "A password has 8 to 1024 characters.",
    });
    expect(await accounts.verifyPassword("you@example.com", password)).toBeNull();
  });

  test.each([8, 1_024])("a password of %i characters is accepted", async (length) => {
    const { accounts } = testStores();
    const password = `${"🔑".repeat(length - 4)}🐎🔋📎🧲`;
    const account = await accounts.add({ email: "you@example.com", password });
    expect(await accounts.verifyPassword("You@example.com", password)).toMatchObject(account);
  });

  test("a wrong, truncated or empty password signs nobody in", async () => {
    const { accounts } = testStores();
    await accounts.add({ email: "you@example.com", password: PASSWORD });
    for (const wrong of [`${PASSWORD} `, PASSWORD.slice(0, -1), PASSWORD.toUpperCase(), ""]) {
      expect(await accounts.verifyPassword("you@example.com", wrong)).toBeNull();
    }
  });

  test("a password with accents is accepted in any Unicode normalization", async () => {
    const { accounts } = testStores();
    await accounts.add({ email: "you@example.com", password: "caf\u00e9 caf\u00e9" });
    expect(
      await accounts.verifyPassword("you@example.com", "cafe\u0301 cafe\u0301"),
    ).not.toBeNull();
  });

  test("an account without a password can't sign in with one", async () => {
    const { accounts } = testStores();
    await addAccount(accounts);
    expect(await accounts.verifyPassword("you@example.com", PASSWORD)).toBeNull();
  });

  test("a new password replaces the old one", async () => {
    const { accounts } = testStores();
    const account = await accounts.add({ email: "you@example.com", password: PASSWORD });
    await accounts.setPassword(account.id, "another password");
    expect(await accounts.verifyPassword("you@example.com", PASSWORD)).toBeNull();
    expect(await accounts.verifyPassword("you@example.com", "another password")).toMatchObject(
      account,
    );
    expect(await rejectionOf(accounts.setPassword(account.id, "short"))).toMatchObject({
      code: "validation_failed",
    });
    expect(await rejectionOf(accounts.setPassword("acc_x", PASSWORD))).toMatchObject({
      code: "not_found",
    });
  });

  test("an unknown address takes as long to refuse as a wrong password", async () => {
    const { accounts } = testStores();
    const add = () => accounts.add({ email: "you@example.com", password: PASSWORD });
    await withRealPasswords(add);
    const time = async (email: string) => {
      const start = performance.now();
      await accounts.verifyPassword(email, "wrong password");
      return performance.now() - start;
    };
    // A busy machine only adds, so the shortest of some tries counts. Without a hash the ratio is under 0.05.
    const shortest = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    const ratio = () => shortest.unknown / shortest.known;
    await withRealPasswords(async () => {
      for (let tries = 0; tries < 30 && !(tries >= 3 && ratio() > 0.4 && ratio() < 2.5); tries++) {
        shortest.known = Math.min(shortest.known, await time("you@example.com"));
        shortest.unknown = Math.min(shortest.unknown, await time("bob@example.com"));
      }
    });
    expect(ratio()).toBeGreaterThan(0.4);
    expect(ratio()).toBeLessThan(2.5);
  });
  test("a removed account is listed until its memories are deleted", async () => {
    const { accounts, another } = await storesOn(place);
    const account = await addAccount(accounts);
    expect(await accounts.removed()).toEqual([]);
    await (await another()).accounts.remove(account.id);
    expect(await accounts.removed()).toEqual([account.id]);
    await accounts.forget(account.id);
    expect(await accounts.removed()).toEqual([]);
  });
});

test("no later account becomes the owner after the owner was removed", async () => {
  const { accounts, db } = testStores();
  await addAccount(accounts, "you@example.com");
  await addAccount(accounts, "bob@example.com");
  db.sqlite.run("DELETE FROM accounts WHERE role = 'owner'");
  expect((await addAccount(accounts, "eve@example.com")).role).toBe("member");
});

test("the password is stored as argon2id and is in no file", async () => {
  const dataDir = temporaryFolder();
  const { accounts, db } = testStores(dataDir);
  const add = () => accounts.add({ email: "you@example.com", password: PASSWORD });
  await withRealPasswords(add);
  const stored = db.sqlite.query("SELECT password_hash FROM accounts").values().flat();
  expect(stored).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$/)]);
  const bytes = readFolder(dataDir);
  expect(bytes.includes("you@example.com")).toBe(true);
  expect(bytes.includes(PASSWORD)).toBe(false);
});

test("removing an account removes its keys, and its address is in no file", async () => {
  const dataDir = temporaryFolder();
  const { accounts, keys, db } = testStores(dataDir);
  const bob = await addAccount(accounts, "bob@example.com");
  const account = await addAccount(accounts, "you@example.com");
  const wanted = { name: "laptop-of-account", scopes: ["memories:read"], expiresAt: null } as const;
  const { key } = await keys.create(account.id, wanted);
  const { key: kept } = await keys.create(bob.id, { ...wanted, name: "phone-of-bob" });

  await accounts.remove(account.id);

  expect(await accounts.list()).toEqual([bob]);
  expect(db.sqlite.query("SELECT DISTINCT account_id FROM api_keys").values()).toEqual([[bob.id]]);
  expect(await keys.authenticate(key)).toBeNull();
  expect((await keys.authenticate(kept))?.accountId).toBe(bob.id);
  expect(await outcomeOf(accounts.remove(account.id))).toThrow("No account with this id.");
  const bytes = readFolder(dataDir);
  const traces = ["you@example.com", "laptop-of-account", "phone-of-bob"];
  expect(traces.filter((trace) => bytes.includes(trace))).toEqual(["phone-of-bob"]);
});
