import { describe, expect, test } from "bun:test";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { DATABASES } from "../support/databases.ts";
import { createAppFor, passkey, startFactors } from "./support/factor-stores.ts";

const MINUTE = 60_000;

describe.each(DATABASES)("on %s,", (_, place) => {
  describe("recovery codes", () => {
    test("are ten different codes, each valid once, accepted in any usual spelling", async () => {
      const { recoveryCodes, one, two } = await startFactors(place);
      const codes = await recoveryCodes.replace(one);
      expect(new Set(codes).size).toBe(10);
      for (const code of codes)
        expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
      const [first = "", second = "", third = ""] = codes;
      expect(await recoveryCodes.use(two, first)).toBe(false);
      expect(await recoveryCodes.use(one, first.replaceAll("-", ""))).toBe(true);
      expect(await recoveryCodes.use(one, first)).toBe(false);
      expect(await recoveryCodes.use(one, ` ${second.toUpperCase().replaceAll("-", " ")} `)).toBe(
        true,
      );
      const misread = third.replaceAll("0", "O").replaceAll("1", "l");
      expect(await recoveryCodes.use(one, misread)).toBe(true);
      expect(await recoveryCodes.count(one)).toBe(7);
      expect(await recoveryCodes.count(two)).toBe(0);
      expect(await recoveryCodes.use(one, "")).toBe(false);
    });
  });

  test("removing the last factor removes the recovery codes, and removing the account removes everything", async () => {
    const parts = await startFactors(place);
    const { passkeys, oneTimeCodes, recoveryCodes, one, two, accounts, db, clock } = parts;
    const { isSetUp, kinds } = parts;
    expect([await isSetUp(one), await kinds(one)]).toEqual([false, []]);
    await oneTimeCodes.confirm(one, (await createAppFor(parts)).code());
    expect(await recoveryCodes.issueFirst(one)).toHaveLength(10);
    await passkeys.add(one, passkey("a"));
    expect(await recoveryCodes.issueFirst(one)).toBeNull();
    expect(await kinds(one)).toEqual(["passkey", "code"]);
    await oneTimeCodes.remove(one);
    await recoveryCodes.removeUnneeded(one);
    expect(await recoveryCodes.count(one)).toBe(10);
    await passkeys.remove(one, "a");
    await recoveryCodes.removeUnneeded(one);
    expect([await isSetUp(one), await recoveryCodes.count(one)]).toEqual([false, 0]);

    await passkeys.add(one, passkey("b"));
    await recoveryCodes.replace(one);
    await createPendingSignIns({ db, clock }).begin(one, null);
    const { email } = (await accounts.find(one)) ?? {};
    expect(email).toBe("you@example.com");
    await accounts.remove(two);
    await accounts.remove(one);
    const tables = db.tables(createSignInTables);
    for (const table of [tables.passkeys, tables.recoveryCodes, tables.oneTimeCodes]) {
      expect(await db.orm.select().from(table)).toEqual([]);
    }
    expect(await db.orm.select().from(tables.pendingSignIns)).toEqual([]);
  });

  test("a pending sign-in allows five tries in ten minutes, and can be ended", async () => {
    const { db, clock, one } = await startFactors(place);
    const pending = createPendingSignIns({ db, clock });
    const secret = await pending.begin(one, "/keys");
    expect(await pending.find(secret)).toEqual({ accountId: one, next: "/keys", triesLeft: 5 });
    for (let left = 4; left >= 0; left--)
      expect((await pending.take(secret))?.triesLeft).toBe(left);
    expect(await pending.take(secret)).toBeNull();
    expect(await pending.find(secret)).toBeNull();
    const other = await pending.begin(one, null);
    await pending.end(other);
    expect(await pending.find(other)).toBeNull();
    const late = await pending.begin(one, null);
    clock.advance(10 * MINUTE);
    expect(await pending.take(late)).toBeNull();
    await pending.begin(one, null);
    const { pendingSignIns } = db.tables(createSignInTables);
    const all = async () => await db.orm.select().from(pendingSignIns);
    expect(await all()).toHaveLength(1);
    await pending.endAll(one);
    expect(await all()).toEqual([]);
  });
});
