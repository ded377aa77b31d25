import { describe, expect, test } from "bun:test";
import { createFactors } from "../../src/sign-in/factors.ts";
import { createPasskeyChallenges } from "../../src/sign-in/passkey-challenges.ts";
import { createPendingSignIns } from "../../src/sign-in/pending-sign-ins.ts";
import { toBase32 } from "../../src/sign-in/totp.ts";
import { createCodeApp } from "../support/code-app.ts";
import { addAccount, testStores } from "../support/stores.ts";

const STEP = 30_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function start() {
  const { db, clock, accounts } = testStores();
  const [one, two] = [await addAccount(accounts), await addAccount(accounts, "b@example.com")];
  return { db, clock, accounts, one: one.id, two: two.id, ...createFactors({ db, clock }) };
}

type Started = Awaited<ReturnType<typeof start>>;

function appOf({ oneTimeCodes, one, clock }: Started) {
  oneTimeCodes.begin(one);
  return createCodeApp(toBase32(oneTimeCodes.findUnconfirmed(one) ?? new Uint8Array()), clock);
}

const passkey = (id: string) => ({
  id,
  publicKey: new Uint8Array([1, 2, 3]),
  counter: 0,
  transports: ["internal", "hybrid"],
  name: "laptop",
});

describe("codes of an app", () => {
  test("count from the first one on that was right, and its secret is not shown again", async () => {
    const parts = await start();
    const { oneTimeCodes, one, two } = parts;
    const app = appOf(parts);
    expect(oneTimeCodes.isSetUp(one)).toBe(false);
    expect(oneTimeCodes.use(one, app.code(), null)).toBe(false);
    expect(oneTimeCodes.confirm(one, app.code(3))).toBe(false);
    expect(oneTimeCodes.confirm(two, app.code())).toBe(false);
    expect(oneTimeCodes.confirm(one, ` ${app.code().slice(0, 3)} ${app.code().slice(3)}`)).toBe(
      true,
    );
    expect(oneTimeCodes.isSetUp(one)).toBe(true);
    expect(oneTimeCodes.isSetUp(two)).toBe(false);
    expect(oneTimeCodes.findUnconfirmed(one)).toBeNull();
    expect(() => oneTimeCodes.begin(one)).toThrow("remove it first");
    expect(oneTimeCodes.confirm(one, app.code(1))).toBe(false);
  });

  test("another secret takes the place of one that was not put to use", async () => {
    const parts = await start();
    const former = appOf(parts);
    const app = appOf(parts);
    expect(parts.oneTimeCodes.confirm(parts.one, former.code())).toBe(false);
    expect(parts.oneTimeCodes.confirm(parts.one, app.code())).toBe(true);
  });

  test("are those of one step before and after, each one time and never an earlier one", async () => {
    const parts = await start();
    const { oneTimeCodes, one, clock } = parts;
    const app = appOf(parts);
    oneTimeCodes.confirm(one, app.code());
    expect(oneTimeCodes.use(one, app.code(), null)).toBe(false);
    clock.advance(10 * STEP);
    for (const steps of [-2, 2]) expect(oneTimeCodes.use(one, app.code(steps), null)).toBe(false);
    expect(oneTimeCodes.use(one, app.code(-1), null)).toBe(true);
    expect(oneTimeCodes.use(one, app.code(-1), null)).toBe(false);
    expect(oneTimeCodes.use(one, app.code(1), null)).toBe(true);
    expect(oneTimeCodes.use(one, app.code(), null)).toBe(false);
    for (const wrong of ["", "abcdef", "1234567", "-12345", "１２３４５６"]) {
      expect(oneTimeCodes.use(one, wrong, null)).toBe(false);
    }
  });

  test("ten wrong ones a day, counted in the database: a restart forgets none", async () => {
    const parts = await start();
    const { one, db, clock } = parts;
    const app = appOf(parts);
    parts.oneTimeCodes.confirm(one, app.code());
    clock.advance(HOUR);
    for (let count = 0; count < 10; count++) {
      const { oneTimeCodes } = createFactors({ db, clock });
      expect(oneTimeCodes.use(one, "x", null)).toBe(false);
    }
    const { oneTimeCodes } = createFactors({ db, clock });
    expect(() => oneTimeCodes.use(one, app.code(), null)).toThrow("Try again in 144 minutes");
    clock.advance(144 * MINUTE);
    expect(oneTimeCodes.use(one, app.code(), null)).toBe(true);
    expect(oneTimeCodes.use(one, "x", null)).toBe(false);
    expect(() => oneTimeCodes.use(one, "x", null)).toThrow("Too many wrong codes");
    // A browser that is known at the account is not stopped by the others' tries.
    expect(oneTimeCodes.use(one, "x", "a known browser")).toBe(false);
    clock.advance(25 * HOUR);
    expect(oneTimeCodes.use(one, app.code(), "a known browser")).toBe(true);
  });
});

describe("recovery codes", () => {
  test("are ten that differ, each for one use, read as people write them", async () => {
    const { recoveryCodes, one, two } = await start();
    const codes = recoveryCodes.replace(one);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes)
      expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    const [first = "", second = "", third = ""] = codes;
    expect(recoveryCodes.use(two, first)).toBe(false);
    expect(recoveryCodes.use(one, first.replaceAll("-", ""))).toBe(true);
    expect(recoveryCodes.use(one, first)).toBe(false);
    expect(recoveryCodes.use(one, ` ${second.toUpperCase().replaceAll("-", " ")} `)).toBe(true);
    const misread = third.replaceAll("0", "O").replaceAll("1", "l");
    expect(recoveryCodes.use(one, misread)).toBe(true);
    expect(recoveryCodes.count(one)).toBe(7);
    expect(recoveryCodes.count(two)).toBe(0);
    expect(recoveryCodes.use(one, "")).toBe(false);
  });
});

describe("passkeys", () => {
  test("are of one account each, with what a signature is checked by", async () => {
    const { passkeys, one, two, clock } = await start();
    passkeys.add(one, passkey("a"));
    expect(() => passkeys.add(two, passkey("a"))).toThrow("in use here already");
    expect(passkeys.findAccount("a")).toBe(one);
    expect(passkeys.find(two, "a")).toBeNull();
    const { name: _, ...rest } = passkey("a");
    expect(passkeys.find(one, "a")).toEqual(rest);
    expect(passkeys.list(one)).toMatchObject([{ name: "laptop", lastUsedAt: null }]);
    passkeys.markUsed(two, "a", 9);
    expect(passkeys.find(one, "a")?.counter).toBe(0);
    passkeys.markUsed(one, "a", 9);
    expect(passkeys.find(one, "a")?.counter).toBe(9);
    expect(passkeys.list(one)[0]?.lastUsedAt).toEqual(new Date(clock()));
    expect(() => passkeys.remove(two, "a")).toThrow("no such passkey");
    passkeys.remove(one, "a");
    expect(passkeys.count(one)).toBe(0);
  });

  test("are at most twenty, with names of a bearable length", async () => {
    const { passkeys, one } = await start();
    for (const name of ["x".repeat(61), "a\u0000b", "a\nb"]) {
      expect(() => passkeys.add(one, { ...passkey("x"), name })).toThrow("at most 60");
    }
    for (let count = 0; count < 20; count++) passkeys.add(one, passkey(`${count}`));
    expect(() => passkeys.add(one, passkey("more"))).toThrow("at most 20");
  });

  test("challenges are for one browser and one purpose, used once, and bounded", async () => {
    const { db, clock } = await start();
    const challenges = createPasskeyChallenges({ db, clock });
    const challenge = challenges.create("browser", "sign-in");
    expect(challenges.take("browser", "proof")).toBeNull();
    expect(challenges.take("other", "sign-in")).toBeNull();
    expect(challenges.take("browser", "sign-in")).toBe(challenge);
    expect(challenges.take("browser", "sign-in")).toBeNull();
    challenges.create("browser", "sign-in");
    clock.advance(5 * MINUTE);
    expect(challenges.take("browser", "sign-in")).toBeNull();
    const insert = db.sqlite.prepare("INSERT INTO passkey_challenges VALUES (?, 'x', ?)");
    db.sqlite.transaction(() => {
      for (let count = 0; count < 10_000; count++) insert.run(`${count}`, clock() + 1 + count);
    })();
    challenges.create("browser", "sign-in");
    const kept = db.sqlite.query("SELECT hash FROM passkey_challenges WHERE challenge = 'x'").all();
    expect(kept).toHaveLength(9_999);
    expect(kept).not.toContainEqual({ hash: "0" });
  });
});

test("the last factor takes the recovery codes with it, and the account takes all", async () => {
  const parts = await start();
  const { passkeys, oneTimeCodes, recoveryCodes, one, accounts, db, clock } = parts;
  const { issueFirstCodes, tidy, isSetUp, kinds } = parts;
  expect([isSetUp(one), kinds(one)]).toEqual([false, []]);
  oneTimeCodes.confirm(one, appOf(parts).code());
  expect(issueFirstCodes(one)).toHaveLength(10);
  passkeys.add(one, passkey("a"));
  expect(issueFirstCodes(one)).toBeNull();
  expect(kinds(one)).toEqual(["passkey", "code"]);
  oneTimeCodes.remove(one);
  tidy(one);
  expect(recoveryCodes.count(one)).toBe(10);
  passkeys.remove(one, "a");
  tidy(one);
  expect([isSetUp(one), recoveryCodes.count(one)]).toEqual([false, 0]);

  passkeys.add(one, passkey("b"));
  recoveryCodes.replace(one);
  createPendingSignIns({ db, clock }).begin(one, null);
  const { email } = accounts.find(one) ?? {};
  db.sqlite.run("DELETE FROM accounts WHERE id = ?", [one]);
  expect(email).toBe("you@example.com");
  for (const table of ["passkeys", "recovery_codes", "one_time_codes", "pending_sign_ins"]) {
    expect(db.sqlite.query(`SELECT * FROM ${table}`).all()).toEqual([]);
  }
});

test("a pending sign-in has five tries, ten minutes, and an end", async () => {
  const { db, clock, one } = await start();
  const pending = createPendingSignIns({ db, clock });
  const secret = pending.begin(one, "/keys");
  expect(pending.find(secret)).toEqual({ accountId: one, next: "/keys", triesLeft: 5 });
  for (let left = 4; left >= 0; left--) expect(pending.take(secret)?.triesLeft).toBe(left);
  expect(pending.take(secret)).toBeNull();
  expect(pending.find(secret)).toBeNull();
  const other = pending.begin(one, null);
  expect(pending.end(other)).toBe(true);
  expect(pending.end(other)).toBe(false);
  const late = pending.begin(one, null);
  clock.advance(10 * MINUTE);
  expect(pending.take(late)).toBeNull();
  pending.begin(one, null);
  expect(db.sqlite.query("SELECT * FROM pending_sign_ins").all()).toHaveLength(1);
  pending.endAll(one);
  expect(db.sqlite.query("SELECT * FROM pending_sign_ins").all()).toEqual([]);
});
