import { describe, expect, test } from "bun:test";
import { DATABASES, storesOn } from "../support/databases.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";
import { NEW_KEY, withAccountOn } from "./support/key-stores.ts";

const MINUTE = 60_000;
describe.each(DATABASES)("keys on %s", (_, place) => {
  test("a new key authenticates its account with the scopes of the key", async () => {
    const { keys, account, clock } = await withAccountOn(place);
    const { key, record } = await keys.create(account.id, {
      ...NEW_KEY,
      scopes: ["memories:read"],
    });
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{12}7[0-9a-f]{19}$/),
      accountId: account.id,
      prefix: key.slice(0, 8),
      name: "laptop",
      scopes: ["memories:read"],
      bound: null,
      createdAt: new Date(clock()),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      pausedAt: null,
      spaceId: null,
    });
    expect(await keys.authenticate(key)).toEqual({
      accountId: account.id,
      isPaused: false,
      scopes: ["memories:read"],
      bound: null,
      spaceId: null,
      keyId: record.id,
      name: "laptop",
    });
  });

  test("a key is bound to a project until it is revoked", async () => {
    const { keys, account, another } = await withAccountOn(place);
    for (const only of [false, true]) {
      const bound = { project: "Öl, Atlas", only };
      const { key, record } = await keys.create(account.id, { ...NEW_KEY, bound });
      expect(record.bound).toEqual(bound);
      const elsewhere = (await another()).keys;
      expect(await elsewhere.list(account.id)).toContainEqual(record);
      expect(await elsewhere.authenticate(key)).toMatchObject({ accountId: account.id, bound });
      await elsewhere.revoke(account.id, record.id);
      expect(await keys.authenticate(key)).toBeNull();
      expect(await keys.findRefused(key)).toMatchObject({ id: record.id, bound });
    }
  });

  test("a key can't be bound to an empty or too long project name, or one with control characters", async () => {
    const { keys, account } = await withAccountOn(place);
    for (const project of ["", "  ", "x".repeat(129), "a\u001bb", "\ud800"]) {
      const wanted = { ...NEW_KEY, bound: { project, only: false } };
      expect(await rejectionOf(keys.create(account.id, wanted))).toMatchObject({
        code: "validation_failed",
        details: [{ path: "/project" }],
      });
    }
    expect(await keys.list(account.id)).toEqual([]);
  });

  test("revoking keeps the record, and revoking again keeps the first time", async () => {
    const { keys, account, clock } = await withAccountOn(place);
    const { record } = await keys.create(account.id, NEW_KEY);
    const first = await keys.revoke(account.id, record.id);
    expect(first.revokedAt).toEqual(new Date(clock()));
    clock.advance(MINUTE);
    expect(await keys.revoke(account.id, record.id)).toEqual(first);
    expect(await keys.list(account.id)).toEqual([first]);
  });

  test("a paused key stays, and other processes see the pause until it is resumed", async () => {
    const { keys, account, another, accounts, clock } = await withAccountOn(place);
    const { key, record } = await keys.create(account.id, NEW_KEY);
    const elsewhere = (await another()).keys;
    const paused = await keys.pause(account.id, record.id, true);
    expect(paused.pausedAt).toEqual(new Date(clock()));
    expect(await elsewhere.authenticate(key)).toMatchObject({ isPaused: true });
    await elsewhere.pause(account.id, record.id, false);
    expect(await keys.authenticate(key)).toMatchObject({ isPaused: false });
    const bob = await addAccount(accounts, "bob@example.com");
    expect(await outcomeOf(keys.pause(bob.id, record.id, true))).toThrow("No key with this id.");
  });

  test("an account sees and revokes its own keys only", async () => {
    const { keys, accounts, account } = await withAccountOn(place);
    const bob = await addAccount(accounts, "bob@example.com");
    const { key, record } = await keys.create(account.id, NEW_KEY);
    const { record: other } = await keys.create(bob.id, { ...NEW_KEY, name: "phone" });
    expect(await keys.list(account.id)).toEqual([record]);
    expect(await keys.list(bob.id)).toEqual([other]);
    expect(await keys.listOfAllAccounts()).toEqual([record, other]);
    expect(await outcomeOf(keys.revoke(bob.id, record.id))).toThrow("No key with this id.");
    expect(await outcomeOf(keys.revokeOfAnyAccount("' OR 1=1 --"))).toThrow("No key with this id.");
    expect(await keys.authenticate(key)).not.toBeNull();
  });

  test.each([
    ["/name", { name: "  " }],
    ["/name", { name: "a".repeat(101) }],
    ["/name", { name: "red \u001b[31m" }],
    ["/scopes", { scopes: [] }],
    ["/expires_at", { expiresAt: new Date(0) }],
    ["/expires_at", { expiresAt: new Date(Number.NaN) }],
  ] as const)("a new key is refused for its %s: %j", async (path, change) => {
    const { keys, account } = await withAccountOn(place);
    const create = () => keys.create(account.id, { ...NEW_KEY, ...change });
    expect(await outcomeOf(create())).toThrow(
      expect.objectContaining({
        code: "validation_failed",
        details: [expect.objectContaining({ path })],
      }),
    );
    expect(await keys.list(account.id)).toEqual([]);
  });

  test("a key for an unknown account is refused", async () => {
    const { keys } = await storesOn(place);
    expect(await outcomeOf(keys.create("acc_unknown", NEW_KEY))).toThrow(
      "No account with this id.",
    );
  });

  test.each(["'; DROP TABLE api_keys; --", 'Robert"); --', "100 % \\ _", "👩‍💻 日本語"])(
    "%j is stored as a name",
    async (name) => {
      const { keys, account } = await withAccountOn(place);
      await keys.create(account.id, { ...NEW_KEY, name: ` ${name} ` });
      expect((await keys.list(account.id)).map((record) => record.name)).toEqual([name]);
    },
  );
});
