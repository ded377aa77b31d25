import { eq } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import { type Account, normaliseEmail, unknownAccount } from "./account.ts";
import COMMON from "./common-passwords.txt" with { type: "text" };
import { createAccountTables } from "./tables.ts";

/** An account whose password was verified. */
export interface Verified extends Account {
  /** See `passwordMark`: shows whether the password is still the same. */
  readonly passwordMark: string;
}

/** The mark of a stored password. */
export function hashPasswordMark(passwordHash: string | null): string | null {
  return passwordHash ? hashSecret(passwordHash) : null;
}

/** The part of the accounts' store that sets and checks passwords. */
export function createPasswords({ db: { orm, tables, transaction } }: { db: Database }) {
  const { accounts, account } = tables(createAccountTables);

  const find = async (id: string, tx: Orm = orm) => {
    const { email, passwordHash } = accounts;
    const found = tx.select({ email, passwordHash }).from(accounts);
    return (await found.where(eq(accounts.id, id)))[0];
  };

  return {
    hasPassword: async (id: string, tx: Orm = orm): Promise<boolean> =>
      typeof (await find(id, tx))?.passwordHash === "string",

    /**
     * A mark that changes with the account's password and reveals nothing about it; null for an account
     * without a password.
     */
    passwordMark: async (id: string): Promise<string | null> =>
      hashPasswordMark((await find(id))?.passwordHash ?? null),

    /**
     * Sets an account's password, and returns its mark.
     * @param former mark of the password to replace, null for none; by default any
     * @throws AppError `validation_failed` for a bad password, `not_found` for an unknown account,
     *   `conflict` when the password is no longer the former one
     */
    async setPassword(id: string, password: string, former?: string | null): Promise<string> {
      checkPassword(password, (await find(id))?.email ?? "");
      const passwordHash = await hashPassword(password);
      await transaction(async (tx) => {
        const found = await find(id, tx);
        if (!found) throw unknownAccount();
        if (former !== undefined && hashPasswordMark(found.passwordHash) !== former) {
          throw new AppError("conflict", "The password was changed elsewhere in the meantime.");
        }
        await tx.update(accounts).set({ passwordHash }).where(eq(accounts.id, id));
      });
      return hashSecret(passwordHash);
    },

    /** Removes the password of an account that has other ways to sign in. */
    async removePassword(id: string, tx: Orm = orm): Promise<void> {
      await tx.update(accounts).set({ passwordHash: null }).where(eq(accounts.id, id));
    },

    /** The account with this e-mail address and password. Unknown accounts take the same time. */
    async verifyPassword(email: string, password: string): Promise<Verified | null> {
      const [row] = await orm
        .select({ ...account, passwordHash: accounts.passwordHash })
        .from(accounts)
        .where(eq(accounts.email, normaliseEmail(email)));
      const matches = await matchesPassword(password, row?.passwordHash ?? null);
      if (!row?.passwordHash || !matches) return null;
      const { passwordHash, ...found } = row;
      return { ...found, passwordMark: hashSecret(passwordHash) };
    },
  };
}

/** Characters of a password. */
export const PASSWORD_LENGTH = { min: 8, max: 1_024 } as const;

/** More than OWASP's minimum for argon2id (19 MiB, 2 passes): about 0.1 s on one core. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 } as const;

/** The hash of a password, in PHC format with its own salt. `checkPassword` validates passwords. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(normalise(password), ARGON2ID);
}

/**
 * Whether a password matches a hash. Without a hash it takes the same time, so that the time of an
 * answer does not reveal which accounts exist.
 */
async function matchesPassword(password: string, hash: string | null): Promise<boolean> {
  if (!hasAllowedLength(password)) return false;
  if (hash !== null) return Bun.password.verify(normalise(password), hash);
  await Bun.password.hash(normalise(password), ARGON2ID);
  return false;
}

function hasAllowedLength(password: string): boolean {
  const length = [...password].length;
  return length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max;
}

/** Normalises letters with accents, which keyboards compose in different ways. */
function normalise(password: string): string {
  return password.normalize("NFC");
}

/** An attacker's guess from the program's name. */
const PROGRAM = "ctxd";
/** Letters that a part of an address needs to count as a word. */
const MIN_WORD = 3;

/**
 * Checks a new password: its length, and that attackers would not try it first. There are no rules of
 * composition (NIST SP 800-63B, section 3.1.1.2).
 * @param email of the account
 * @throws AppError `validation_failed`
 */
export function checkPassword(password: string, email: string): void {
  const message = explainWeakness(password, email);
  if (message === null) return;
  throw new AppError("validation_failed", message, { details: [{ path: "/password", message }] });
}

function explainWeakness(password: string, email: string): string | null {
  if (!hasAllowedLength(password)) {
    return `A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`;
  }
  const text = comparable(password);
  if (isCommon(text) || isRegular(text)) {
    return "Many people use this password, so attackers try it first: choose another one.";
  }
  if (isMadeOf(text, [PROGRAM, ...wordsOf(email)])) {
    return `A password must not consist of your e-mail address or the name ${PROGRAM}: choose another one.`;
  }
  return null;
}

/** Passwords that look the same are compared as equal. */
function comparable(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** Each line of the list is a password, most of them in lower case. */
function isCommon(text: string): boolean {
  return `\n${COMMON}`.includes(`\n${text.trim()}\n`);
}

/** Whether a text repeats a few characters (`abababab`) or is a sequence (`abcdefgh`, `87654321`). */
function isRegular(text: string): boolean {
  if ([1, 2, 3].some((period) => text.slice(period) === text.slice(0, -period))) return true;
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  const [step = 0] = steps;
  return steps.size === 1 && Math.abs(step) === 1;
}

/** The words of an address, and everything before its `@` as one word. */
function wordsOf(email: string): string[] {
  const [local = ""] = comparable(email).split("@");
  return [...comparable(email).split(/[^\p{L}]+/u), lettersOf(local)].filter(
    (word) => word.length >= MIN_WORD,
  );
}

/** Whether the letters of a text are only these words, and its other characters are too few. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  const letters = lettersOf(text);
  const others = [...text].length - [...letters].length;
  return isJoined(letters, words) && others < PASSWORD_LENGTH.min;
}

/**
 * Whether a text consists of these words, in any order and number. A regular expression would try every
 * way to split a text such as that of `aaa.aaaa@example.com`.
 */
function isJoined(text: string, words: readonly string[]): boolean {
  /** Positions at which a word can end. */
  const ends = new Set([0]);
  for (let at = 0; at < text.length; at++) {
    if (!ends.has(at)) continue;
    for (const word of words) if (text.startsWith(word, at)) ends.add(at + word.length);
  }
  return text !== "" && ends.has(text.length);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}]/gu, "");
}
