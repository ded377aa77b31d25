import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createKeys } from "../../src/keys/keys.ts";
import { generateKey, type NewKey } from "../../src/keys/new-key.ts";
import { temporaryFolder } from "../support/database.ts";
import { DATABASES } from "../support/databases.ts";
import { outcomeOf } from "../support/outcome.ts";
import { addAccount, testStores } from "../support/stores.ts";
import { NEW_KEY, withAccountOn } from "./support/key-stores.ts";

const MINUTE = 60_000;
/** The stores on SQLite, with one account. */
async function withAccount(dataDir?: string) {
  const stores = testStores(dataDir);
  return { ...stores, account: await addAccount(stores.accounts) };
}

describe.each(DATABASES)("authentication on %s", (_, place) => {
  test("a key that another process revoked is refused on the next call", async () => {
    const { keys, account, another } = await withAccountOn(place);
    const { key, record } = await keys.create(account.id, NEW_KEY);
    expect(await keys.authenticate(key)).not.toBeNull();
    await (await another()).keys.revokeOfAnyAccount(record.id);
    expect(await keys.authenticate(key)).toBeNull();
  });

  test("a key of an account that another process removed is refused on the next call", async () => {
    const { keys, account, another } = await withAccountOn(place);
    const { key } = await keys.create(account.id, NEW_KEY);
    expect(await keys.authenticate(key)).not.toBeNull();
    await (await another()).accounts.remove(account.id);
    expect(await keys.authenticate(key)).toBeNull();
  });

  test("an unknown, mistyped or hostile key is refused", async () => {
    const { keys, account } = await withAccountOn(place);
    const { key } = await keys.create(account.id, NEW_KEY);
    const last = key.endsWith("0") ? "1" : "0";
    for (const other of [
      generateKey(),
      key.slice(0, -1) + last,
      "",
      "' OR 1=1 --",
      `${key}\u0000`,
    ]) {
      expect(await keys.authenticate(other)).toBeNull();
    }
  });

  test("a key expires at its time, to the millisecond", async () => {
    const { keys, account, clock } = await withAccountOn(place);
    const { key } = await keys.create(account.id, {
      ...NEW_KEY,
      expiresAt: new Date(clock() + MINUTE),
    });
    clock.advance(MINUTE - 1);
    expect(await keys.authenticate(key)).not.toBeNull();
    clock.advance(1);
    expect(await keys.authenticate(key)).toBeNull();
  });

  test("after the clock is set back, the last use has the new time, and the key still expires at its time", async () => {
    const { keys, account, clock } = await withAccountOn(place);
    const expiresAt = new Date(clock() + 2 * MINUTE);
    const { key } = await keys.create(account.id, { ...NEW_KEY, expiresAt });
    await keys.authenticate(key);
    clock.advance(-24 * 60 * MINUTE);
    expect(await keys.authenticate(key)).not.toBeNull();
    expect((await keys.list(account.id))[0]?.lastUsedAt).toEqual(new Date(clock()));
    clock.advance(365 * 24 * 60 * MINUTE);
    expect(await keys.authenticate(key)).toBeNull();
  });

  test("a last use that could not be written is written again after a minute, not on every call", async () => {
    const { db, clock, account, keys: maker } = await withAccountOn(place);
    const { key } = await maker.create(account.id, NEW_KEY);
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      return false;
    };
    const keys = createKeys({ db: { ...db, attempt }, clock });
    for (let call = 0; call < 10; call++) expect(await keys.authenticate(key)).not.toBeNull();
    expect(attempts).toBe(1);
    clock.advance(MINUTE);
    await keys.authenticate(key);
    expect(attempts).toBe(2);
  });
});

test("an earlier version of ctxd, without projects, does not find a bound key", async () => {
  const { keys, account, db } = await withAccount();
  const bound = { project: "atlas", only: false };
  const found = async (wanted: NewKey) => {
    const { key } = await keys.create(account.id, wanted);
    const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
    return db.sqlite.query("SELECT id FROM api_keys WHERE hash = ?").get(hash);
  };
  expect(await found(NEW_KEY)).not.toBeNull();
  expect(await found({ ...NEW_KEY, bound })).toBeNull();
});

test("a mistyped key is refused without a query", async () => {
  const { keys, account, db } = await withAccount();
  const { key } = await keys.create(account.id, NEW_KEY);
  db.sqlite.run("ALTER TABLE api_keys RENAME TO elsewhere");
  expect(await outcomeOf(keys.authenticate(key))).toThrow("no such table");
  expect(await keys.authenticate(key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"))).toBeNull();
});

test("the last use is written at most once a minute", async () => {
  const { keys, account, clock, db } = await withAccount();
  const { key } = await keys.create(account.id, NEW_KEY);
  const lastUse = async () => (await keys.list(account.id))[0]?.lastUsedAt?.getTime();
  const writes = () => db.sqlite.query("SELECT total_changes()").values().flat()[0];
  const start = clock();
  await keys.authenticate(key);
  expect(await lastUse()).toBe(start);
  const before = writes();
  clock.advance(MINUTE - 1);
  for (let call = 0; call < 10; call++) await keys.authenticate(key);
  expect(await lastUse()).toBe(start);
  expect(writes()).toBe(before);
  clock.advance(1);
  await keys.authenticate(key);
  expect(await lastUse()).toBe(start + MINUTE);
});

test("a database that another process keeps busy neither delays nor refuses a request", async () => {
  const dataDir = temporaryFolder();
  const { keys, account, clock } = await withAccount(dataDir);
  const { key } = await keys.create(account.id, NEW_KEY);
  const other = testStores(dataDir).db.sqlite;
  other.run("BEGIN IMMEDIATE");
  const start = performance.now();
  for (let call = 0; call < 100; call++) expect(await keys.authenticate(key)).not.toBeNull();
  expect(performance.now() - start).toBeLessThan(500);
  other.run("ROLLBACK");
  expect((await keys.list(account.id))[0]?.lastUsedAt).toBeNull();
  clock.advance(MINUTE);
  await keys.authenticate(key);
  expect((await keys.list(account.id))[0]?.lastUsedAt).toEqual(new Date(clock()));
});

test("keys are accepted while the database can't be written", async () => {
  const { keys, account, db } = await withAccount();
  const { key } = await keys.create(account.id, NEW_KEY);
  db.sqlite.run("PRAGMA query_only = ON");
  expect(await keys.authenticate(key)).not.toBeNull();
});

test("no file contains more of a key than its first eight characters", async () => {
  const dataDir = temporaryFolder();
  const { keys, account } = await withAccount(dataDir);
  const { key } = await keys.create(account.id, NEW_KEY);
  await keys.authenticate(key);
  const bytes = readdirSync(dataDir)
    .map((name) => readFileSync(join(dataDir, name), "latin1"))
    .join("\n");
  expect(bytes.includes(key.slice(0, 8))).toBe(true);
  for (const part of [key.slice(0, 12), key.slice(4), key.slice(-20)]) {
    expect(bytes.includes(part)).toBe(false);
  }
});

test("authenticating a key takes microseconds", async () => {
  const { keys, account } = await withAccount();
  const made: string[] = [];
  for (let i = 0; i < 100; i++) made.push((await keys.create(account.id, NEW_KEY)).key);
  for (const key of made) await keys.authenticate(key);
  const start = performance.now();
  for (let round = 0; round < 20; round++) for (const key of made) await keys.authenticate(key);
  // About 7 µs on a quiet machine.
  expect(((performance.now() - start) * 1_000) / 2_000).toBeLessThan(200);
});
