import { createHmac } from "node:crypto";
import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { StoreParts } from "../../db/database.ts";
import type { Ephemeral } from "../../db/ephemeral.ts";
import { isSameSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { tooMany } from "../sign-in.ts";
import { createSignInTables } from "../tables.ts";

/** Milliseconds for which a code is shown, the default of all apps. */
const STEP = 30_000;
const DIGITS = 6;
/** RFC 4226, section 4, requirement 6. */
const SECRET_BYTES = 20;

/** A new secret for an app that shows codes. */
export function createTotpSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
}

/** The step that a moment is in. @param now milliseconds since 1970 */
export function stepAt(now: number): number {
  return Math.floor(now / STEP);
}

/** The code of a step (RFC 6238, section 4; RFC 4226, section 5.3). */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** A secret as people type it into an app: base32 (RFC 4648, section 6) without padding. */
export function toBase32(bytes: Uint8Array): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

/**
 * The address that transfers a secret to an app (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
 * @param issuer the name of the server in the app
 */
export function totpAddress(
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

/** Steps before and after the present one whose codes are accepted, because clocks differ and typing takes time. */
const TOLERANCE = 1;
/**
 * Wrong codes before an account must wait, and the milliseconds until all tries are restored. A thief
 * of the password guesses right within a year with a chance of one in a hundred.
 */
const TRIES = 10;
const PERIOD = 24 * 3_600_000;

/** The store of the secrets that apps compute codes from. */
export function createOneTimeCodes({
  db,
  clock,
  ephemeral,
}: StoreParts & { ephemeral: Ephemeral }) {
  const { orm } = db;
  const { oneTimeCodes } = db.tables(createSignInTables);
  const byBrowser = ephemeral.limit("codes of a browser", { tries: TRIES, period: PERIOD });
  const isOf = (accountId: string) => eq(oneTimeCodes.accountId, accountId);

  /** When codes were set up; null without codes. */
  const setUpAt = async (accountId: string): Promise<Date | null> => {
    const [row] = await orm
      .select({ confirmedAt: oneTimeCodes.confirmedAt })
      .from(oneTimeCodes)
      .where(isOf(accountId));
    return row?.confirmedAt ?? null;
  };

  /** The secret that is not confirmed yet; null for none. A confirmed one is never shown again. */
  const findUnconfirmed = async (accountId: string): Promise<Buffer | null> => {
    const [row] = await orm
      .select({ secret: oneTimeCodes.secret })
      .from(oneTimeCodes)
      .where(and(isOf(accountId), isNull(oneTimeCodes.confirmedAt)));
    return row?.secret ?? null;
  };

  /** The step that this code belongs to, among those that are still valid; null for none. */
  const findStep = (secret: Uint8Array, lastStep: number, typed: string): number | null => {
    const code = typed.replaceAll(/\s/g, "");
    const now = stepAt(clock());
    let found: number | null = null;
    for (let step = now - TOLERANCE; step <= now + TOLERANCE; step++) {
      if (isSameSecret(codeOf(secret, step), code) && step > lastStep) found = step;
    }
    return found;
  };

  /** Checks a code, and stores the result. Returns the milliseconds to wait if no try is left. */
  const tryOut = (accountId: string, code: string, isLimited: boolean): Promise<boolean | number> =>
    db.transaction(async (tx) => {
      const isIt = and(isOf(accountId), isNotNull(oneTimeCodes.confirmedAt));
      const [row] = await tx.select().from(oneTimeCodes).where(isIt);
      if (!row) return false;
      const now = clock();
      const elapsed = Math.max(0, now - row.failedAt.getTime());
      const failures = Math.max(0, row.failures - (elapsed / PERIOD) * TRIES);
      if (isLimited && failures > TRIES - 1) return ((failures - TRIES + 1) / TRIES) * PERIOD;
      const step = findStep(row.secret, row.lastStep, code);
      if (step !== null) await tx.update(oneTimeCodes).set({ lastStep: step }).where(isIt);
      else if (isLimited) {
        const change = { failures: failures + 1, failedAt: new Date(now) };
        await tx.update(oneTimeCodes).set(change).where(isIt);
      }
      return step !== null;
    });

  return {
    isSetUp: async (accountId: string): Promise<boolean> => (await setUpAt(accountId)) !== null,

    setUpAt,

    /**
     * Creates a secret, which `confirm` puts into use. It replaces an unconfirmed one.
     * @throws AppError `conflict` when the account already uses codes
     */
    async begin(accountId: string): Promise<void> {
      const secret = Buffer.from(createTotpSecret());
      const row = { secret, confirmedAt: null, lastStep: 0, failures: 0, failedAt: new Date(0) };
      const made = await orm
        .insert(oneTimeCodes)
        .values({ accountId, ...row })
        .onConflictDoUpdate({
          target: oneTimeCodes.accountId,
          set: row,
          setWhere: isNull(oneTimeCodes.confirmedAt),
        })
        .returning({ accountId: oneTimeCodes.accountId });
      if (made.length > 0) return;
      throw new AppError("conflict", "You already have an app for codes: remove it first.");
    },

    findUnconfirmed,

    /** Puts the secret into use after a first code. Returns false if the code is wrong. */
    async confirm(accountId: string, code: string): Promise<boolean> {
      const secret = await findUnconfirmed(accountId);
      const lastStep = secret && findStep(secret, 0, code);
      if (secret === null || lastStep === null) return false;
      // Another window may have created a new secret in the meantime.
      const isIt = and(isOf(accountId), eq(oneTimeCodes.secret, secret));
      const isWaiting = and(isIt, isNull(oneTimeCodes.confirmedAt));
      const confirmed = await orm
        .update(oneTimeCodes)
        .set({ confirmedAt: new Date(clock()), lastStep })
        .where(isWaiting)
        .returning({ accountId: oneTimeCodes.accountId });
      return confirmed.length > 0;
    },

    /**
     * Uses up a code. Returns false for a wrong or used one. Wrong codes are counted per account, in
     * the database. A browser that is known at the account has tries of its own, so that a thief of the
     * password can't lock the person out.
     * @param browser as in `Attempt`
     * @throws AppError `rate_limited` after too many wrong codes
     */
    async use(accountId: string, code: string, browser: string | null): Promise<boolean> {
      const wait = browser === null ? null : await byBrowser.take(browser);
      if (wait !== null) throw tooManyCodes(wait);
      const outcome = await tryOut(accountId, code, browser === null);
      if (typeof outcome === "number") throw tooManyCodes(Math.ceil(outcome / 1_000));
      if (outcome && browser !== null) await byBrowser.giveBack(browser);
      return outcome;
    },

    async remove(accountId: string): Promise<void> {
      await orm.delete(oneTimeCodes).where(isOf(accountId));
    },
  };
}

/** @param wait in seconds */
const tooManyCodes = (wait: number) =>
  tooMany(wait, "wrong codes", ", or use a passkey or a recovery code");
