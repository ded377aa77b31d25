import { and, count, eq, isNotNull, notExists } from "drizzle-orm";
import type { Database, Orm } from "../../db/database.ts";
import { hashSecret } from "../../db/id.ts";
import { createSignInTables } from "../tables.ts";

/** Codes that an account gets at once. */
export const RECOVERY_CODES = 10;
/** No characters that look alike (Crockford's base32). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 random bits: too many to guess here or to find from the hash. */
const CHARACTERS = 16;

/** The store of recovery codes, which replace a lost second factor, each once. */
export function createRecoveryCodes({ db }: { db: Database }) {
  const { orm } = db;
  const { recoveryCodes, passkeys, oneTimeCodes } = db.tables(createSignInTables);
  const isOf = (accountId: string) => eq(recoveryCodes.accountId, accountId);
  const hashOf = (accountId: string, typed: string) => {
    // As people copy it from paper.
    const code = typed
      .toLowerCase()
      .replaceAll(/[\s-]/g, "")
      .replaceAll("o", "0")
      .replaceAll(/[il]/g, "1");
    return hashSecret(`recovery ${accountId} ${code}`);
  };

  const countOf = async (accountId: string, tx: Orm = orm): Promise<number> => {
    const left = tx.select({ count: count() }).from(recoveryCodes);
    const [row] = await left.where(isOf(accountId));
    return row?.count ?? 0;
  };

  const createRows = (accountId: string) => {
    const codes = Array.from({ length: RECOVERY_CODES }, createCode);
    return { codes, rows: codes.map((code) => ({ accountId, hash: hashOf(accountId, code) })) };
  };

  return {
    /** Creates new codes for an account, which replace the old ones. They can be shown now and never again. */
    async replace(accountId: string): Promise<string[]> {
      const { codes, rows } = createRows(accountId);
      await db.transaction(async (tx) => {
        await tx.delete(recoveryCodes).where(isOf(accountId));
        await tx.insert(recoveryCodes).values(rows);
      });
      return codes;
    },

    /** Creates codes for an account that has just set up its first second factor; null if it has codes. */
    async issueFirst(accountId: string): Promise<string[] | null> {
      const { codes, rows } = createRows(accountId);
      return await db.transaction(async (tx) => {
        if ((await countOf(accountId, tx)) > 0) return null;
        await tx.insert(recoveryCodes).values(rows);
        return codes;
      });
    },

    /** The number of codes that an account has left. */
    count: countOf,

    /** Uses up a code. Returns false for a wrong or used one. */
    async use(accountId: string, code: string): Promise<boolean> {
      const used = await orm
        .delete(recoveryCodes)
        .where(and(isOf(accountId), eq(recoveryCodes.hash, hashOf(accountId, code))))
        .returning({ hash: recoveryCodes.hash });
      return used.length > 0;
    },

    /** Removes all codes of an account without a second factor. */
    async removeUnneeded(accountId: string): Promise<void> {
      const passkey = orm.select({ id: passkeys.id }).from(passkeys);
      const app = orm.select({ id: oneTimeCodes.accountId }).from(oneTimeCodes);
      const isTheirApp = eq(oneTimeCodes.accountId, accountId);
      const hasNothing = and(
        notExists(passkey.where(eq(passkeys.accountId, accountId))),
        notExists(app.where(and(isTheirApp, isNotNull(oneTimeCodes.confirmedAt)))),
      );
      await orm.delete(recoveryCodes).where(and(isOf(accountId), hasNothing));
    },
  };
}

/** Such as `7k2m-x9qa-04wd-hsz3`. */
function createCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CHARACTERS));
  // 32 divides 256: every character has the same probability.
  const characters = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return (characters.match(/.{4}/g) ?? []).join("-");
}
