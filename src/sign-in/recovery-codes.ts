import { and, count, eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import { recoveryCodes } from "./tables.ts";

/** How many codes an account gets at once. */
export const RECOVERY_CODES = 10;
/** No letter or digit that is taken for another one (Crockford's base32). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 80 random bits: neither guessed here nor found from its hash. */
const CHARACTERS = 16;

export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;

/** The store of codes that stand in for a lost second factor, each one time. */
export function createRecoveryCodes({ db }: { db: Database }) {
  const { orm } = db;
  const isOf = (accountId: string) => eq(recoveryCodes.accountId, accountId);
  const hashOf = (accountId: string, typed: string) => {
    // As it is read off a sheet of paper.
    const code = typed
      .toLowerCase()
      .replaceAll(/[\s-]/g, "")
      .replaceAll("o", "0")
      .replaceAll(/[il]/g, "1");
    return hashSecret(`recovery ${accountId} ${code}`);
  };

  return {
    /** Gives an account new codes instead of those that it had. They can't be read again. */
    replace(accountId: string): string[] {
      const codes = Array.from({ length: RECOVERY_CODES }, createCode);
      const rows = codes.map((code) => ({ accountId, hash: hashOf(accountId, code) }));
      orm.transaction(
        (tx) => {
          tx.delete(recoveryCodes).where(isOf(accountId)).run();
          tx.insert(recoveryCodes).values(rows).run();
        },
        { behavior: "immediate" },
      );
      return codes;
    },

    /** How many codes an account has left. */
    count: (accountId: string): number =>
      orm.select({ count: count() }).from(recoveryCodes).where(isOf(accountId)).get()?.count ?? 0,

    /** Uses a code up. Returns false for one that is wrong or was used. */
    use: (accountId: string, code: string): boolean =>
      orm
        .delete(recoveryCodes)
        .where(and(isOf(accountId), eq(recoveryCodes.hash, hashOf(accountId, code))))
        .returning({ hash: recoveryCodes.hash })
        .get() !== undefined,

    /** Takes all codes from an account. */
    remove: (accountId: string): void =>
      void orm.delete(recoveryCodes).where(isOf(accountId)).run(),
  };
}

/** Such as `7k2m-x9qa-04wd-hsz3`. */
function createCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CHARACTERS));
  // 32 divides 256: every character is as likely.
  const characters = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return (characters.match(/.{4}/g) ?? []).join("-");
}
