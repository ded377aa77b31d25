import { describe, expect, test } from "bun:test";
import { createFactors } from "../../src/sign-in/factors.ts";
import { createPasskeyChallenges } from "../../src/sign-in/passkey-challenges.ts";
import { createPendingSignIns } from "../../src/sign-in/pending-sign-ins.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { toBase32 } from "../../src/sign-in/totp.ts";
import { createCodeApp } from "../support/code-app.ts";
import { DATABASES, type Place, storesOn } from "../support/databases.ts";
import { addAccount } from "../support/stores.ts";

const STEP = 30_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function start(place: Place) {
  const { db, clock, accounts } = await storesOn(place);
  const [one, two] = [await addAccount(accounts), await addAccount(accounts, "b@example.com")];
  return { db, clock, accounts, one: one.id, two: two.id, ...createFactors({ db, clock }) };
}

type Started = Awaited<ReturnType<typeof start>>;

async function appOf({ oneTimeCodes, one, clock }: Started) {
  await oneTimeCodes.begin(one);
  return createCodeApp(
    toBase32((await oneTimeCodes.findUnconfirmed(one)) ?? new Uint8Array()),
    clock,
  );
}

const passkey = (id: string) => ({
  id,
  publicKey: new Uint8Array([1, 2, 3]),
  counter: 0,
  transports: ["internal", "hybrid"],
  name: "laptop",
});

describe.each(DATABASES)("on %s,", (_, place) => {
  describe("codes of an app", () => {
    test("count from the first one on that was right, and its secret is not shown again", async () => {
      const parts = await start(place);
      const { oneTimeCodes, one, two } = parts;
      const app = await appOf(parts);
      expect(await oneTimeCodes.isSetUp(one)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      expect(await oneTimeCodes.confirm(one, app.code(3))).toBe(false);
      expect(await oneTimeCodes.confirm(two, app.code())).toBe(false);
      expect(
        await oneTimeCodes.confirm(one, ` ${app.code().slice(0, 3)} ${app.code().slice(3)}`),
      ).toBe(true);
      expect(await oneTimeCodes.isSetUp(one)).toBe(true);
      expect(await oneTimeCodes.isSetUp(two)).toBe(false);
      expect(await oneTimeCodes.findUnconfirmed(one)).toBeNull();
      await expect(oneTimeCodes.begin(one)).rejects.toThrow("remove it first");
      expect(await oneTimeCodes.confirm(one, app.code(1))).toBe(false);
    });

    test("another secret takes the place of one that was not put to use", async () => {
      const parts = await start(place);
      const former = await appOf(parts);
      const app = await appOf(parts);
      expect(await parts.oneTimeCodes.confirm(parts.one, former.code())).toBe(false);
      expect(await parts.oneTimeCodes.confirm(parts.one, app.code())).toBe(true);
    });

    test("are those of one step before and after, each one time and never an earlier one", async () => {
      const parts = await start(place);
      const { oneTimeCodes, one, clock } = parts;
      const app = await appOf(parts);
      await oneTimeCodes.confirm(one, app.code());
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      clock.advance(10 * STEP);
      for (const steps of [-2, 2])
        expect(await oneTimeCodes.use(one, app.code(steps), null)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(-1), null)).toBe(true);
      expect(await oneTimeCodes.use(one, app.code(-1), null)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(1), null)).toBe(true);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      for (const wrong of ["", "abcdef", "1234567", "-12345", "１２３４５６"]) {
        expect(await oneTimeCodes.use(one, wrong, null)).toBe(false);
      }
    });

    test("ten wrong ones a day, counted in the database: a restart forgets none", async () => {
      const parts = await start(place);
      const { one, db, clock } = parts;
      const app = await appOf(parts);
      await parts.oneTimeCodes.confirm(one, app.code());
      clock.advance(HOUR);
      for (let count = 0; count < 10; count++) {
        const { oneTimeCodes } = createFactors({ db, clock });
        expect(await oneTimeCodes.use(one, "x", null)).toBe(false);
      }
      const { oneTimeCodes } = createFactors({ db, clock });
      await expect(oneTimeCodes.use(one, app.code(), null)).rejects.toThrow(
        "Try again in 144 minutes",
      );
      clock.advance(144 * MINUTE);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(true);
      expect(await oneTimeCodes.use(one, "x", null)).toBe(false);
      await expect(oneTimeCodes.use(one, "x", null)).rejects.toThrow("Too many wrong codes");
      // A browser that is known at the account is not stopped by the others' tries.
      expect(await oneTimeCodes.use(one, "x", "a known browser")).toBe(false);
      clock.advance(25 * HOUR);
      expect(await oneTimeCodes.use(one, app.code(), "a known browser")).toBe(true);
    });
  });

  describe("recovery codes", () => {
    test("are ten that differ, each for one use, read as people write them", async () => {
      const { recoveryCodes, one, two } = await start(place);
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

  describe("passkeys", () => {
    test("are of one account each, with what a signature is checked by", async () => {
      const { passkeys, one, two, clock } = await start(place);
      await passkeys.add(one, passkey("a"));
      await expect(passkeys.add(two, passkey("a"))).rejects.toThrow("already in use here");
      expect(await passkeys.findAccount("a")).toBe(one);
      expect(await passkeys.find(two, "a")).toBeNull();
      const { name: _, ...rest } = passkey("a");
      expect(await passkeys.find(one, "a")).toEqual(rest);
      expect(await passkeys.list(one)).toMatchObject([{ name: "laptop", lastUsedAt: null }]);
      expect(await passkeys.markUsed(two, "a", 9)).toBe(false);
      expect((await passkeys.find(one, "a"))?.counter).toBe(0);
      const uses = [9, 9, 9].map((count) => passkeys.markUsed(one, "a", count));
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
      expect(await passkeys.markUsed(one, "a", 0)).toBe(false);
      expect((await passkeys.find(one, "a"))?.counter).toBe(9);
      expect((await passkeys.list(one))[0]?.lastUsedAt).toEqual(new Date(clock()));
      await expect(passkeys.remove(two, "a")).rejects.toThrow("no such passkey");
      await passkeys.remove(one, "a");
      expect(await passkeys.markUsed(one, "a", 10)).toBe(false);
      expect(await passkeys.count(one)).toBe(0);
    });

    test("are at most twenty, with names of a bearable length", async () => {
      const { passkeys, one } = await start(place);
      for (const name of ["x".repeat(61), "a\u0000b", "a\nb"]) {
        await expect(passkeys.add(one, { ...passkey("x"), name })).rejects.toThrow("at most 60");
      }
      for (let count = 0; count < 20; count++) await passkeys.add(one, passkey(`${count}`));
      await expect(passkeys.add(one, passkey("more"))).rejects.toThrow("at most 20");
    });

    test("challenges are for one browser and one purpose, used once, and bounded", async () => {
      const { db, clock } = await start(place);
      const challenges = createPasskeyChallenges({ db, clock });
      const challenge = await challenges.create("browser", "sign-in");
      expect(await challenges.take("browser", "proof")).toBeNull();
      expect(await challenges.take("other", "sign-in")).toBeNull();
      expect(await challenges.take("browser", "sign-in")).toBe(challenge);
      expect(await challenges.take("browser", "sign-in")).toBeNull();
      await challenges.create("browser", "sign-in");
      clock.advance(5 * MINUTE);
      expect(await challenges.take("browser", "sign-in")).toBeNull();
      const { passkeyChallenges } = db.tables(createSignInTables);
      for (let made = 0; made < 10_000; made += 1_000) {
        const rows = Array.from({ length: 1_000 }, (_, at) => ({
          hash: `${made + at}`,
          challenge: "x",
          expiresAt: new Date(clock() + 1 + made + at),
        }));
        await db.orm.insert(passkeyChallenges).values(rows);
      }
      await challenges.create("browser", "sign-in");
      const all = await db.orm.select().from(passkeyChallenges);
      const kept = all.filter(({ challenge: each }) => each === "x");
      expect(kept).toHaveLength(9_999);
      expect(kept.map(({ hash }) => hash)).not.toContain("0");
    });
  });

  test("the last factor takes the recovery codes with it, and the account takes all", async () => {
    const parts = await start(place);
    const { passkeys, oneTimeCodes, recoveryCodes, one, two, accounts, db, clock } = parts;
    const { issueFirstCodes, tidy, isSetUp, kinds } = parts;
    expect([await isSetUp(one), await kinds(one)]).toEqual([false, []]);
    await oneTimeCodes.confirm(one, (await appOf(parts)).code());
    expect(await issueFirstCodes(one)).toHaveLength(10);
    await passkeys.add(one, passkey("a"));
    expect(await issueFirstCodes(one)).toBeNull();
    expect(await kinds(one)).toEqual(["passkey", "code"]);
    await oneTimeCodes.remove(one);
    await tidy(one);
    expect(await recoveryCodes.count(one)).toBe(10);
    await passkeys.remove(one, "a");
    await tidy(one);
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

  test("a pending sign-in has five tries, ten minutes, and an end", async () => {
    const { db, clock, one } = await start(place);
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
