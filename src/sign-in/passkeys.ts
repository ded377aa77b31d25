import { and, asc, count, eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { passkeys } from "./tables.ts";

/** More than anyone has devices; keeps what a browser is sent small. */
const MOST = 20;
const MAX_NAME = 60;

/** What the account page tells of a passkey. */
export interface PasskeyRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What a signature is checked with. */
export interface Passkey {
  /** In base64url. */
  readonly id: string;
  /** In COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
}

export type Passkeys = ReturnType<typeof createPasskeys>;

/** The store of passkeys. `clock` gives milliseconds since 1970. */
export function createPasskeys({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const isOf = (accountId: string) => eq(passkeys.accountId, accountId);
  const isThis = (accountId: string, id: string) => and(isOf(accountId), eq(passkeys.id, id));
  const howMany = (accountId: string): number =>
    orm.select({ count: count() }).from(passkeys).where(isOf(accountId)).get()?.count ?? 0;

  return {
    /**
     * Adds a passkey to an account.
     * @throws AppError `validation_failed` for a bad name, `conflict` for a passkey that is known
     */
    add(accountId: string, { transports, publicKey, ...rest }: Passkey & { name: string }): void {
      const name = rest.name.trim() || "Passkey";
      if (name.length > MAX_NAME || /[\p{Cc}\u2028\u2029]/u.test(name)) {
        const message = `A passkey's name has at most ${MAX_NAME} characters and no control characters.`;
        throw new AppError("validation_failed", message);
      }
      if (howMany(accountId) >= MOST) {
        throw new AppError(
          "conflict",
          `An account has at most ${MOST} passkeys: remove one first.`,
        );
      }
      const row = {
        ...rest,
        name,
        accountId,
        publicKey: Buffer.from(publicKey),
        transports: transports.join(" "),
        createdAt: new Date(clock()),
      };
      const made = orm.insert(passkeys).values(row).onConflictDoNothing().returning().get();
      if (!made) throw new AppError("conflict", "This passkey is in use here already.");
    },

    /** The account's passkeys, oldest first. */
    list: (accountId: string): PasskeyRecord[] =>
      orm
        .select({
          id: passkeys.id,
          name: passkeys.name,
          createdAt: passkeys.createdAt,
          lastUsedAt: passkeys.lastUsedAt,
        })
        .from(passkeys)
        .where(isOf(accountId))
        .orderBy(asc(passkeys.createdAt), asc(passkeys.id))
        .all(),

    count: howMany,

    /** The ids of the account's passkeys, and how a browser reaches them. */
    describe: (accountId: string): Pick<Passkey, "id" | "transports">[] =>
      orm
        .select({ id: passkeys.id, transports: passkeys.transports })
        .from(passkeys)
        .where(isOf(accountId))
        .all()
        .map(({ id, transports }) => ({ id, transports: split(transports) })),

    /** The account that a passkey signs in to, told by the passkey itself; null for an unknown one. */
    findAccount: (id: string): string | null =>
      orm.select({ accountId: passkeys.accountId }).from(passkeys).where(eq(passkeys.id, id)).get()
        ?.accountId ?? null,

    /** A passkey of an account; null for one of another account. */
    find(accountId: string, id: string): Passkey | null {
      const row = orm.select().from(passkeys).where(isThis(accountId, id)).get();
      if (!row) return null;
      const { publicKey, counter, transports } = row;
      return {
        id,
        publicKey: Uint8Array.from(publicKey),
        counter,
        transports: split(transports),
      };
    },

    /** Notes that a passkey was used, and how often that was by its own count. */
    markUsed: (accountId: string, id: string, counter: number): void =>
      void orm
        .update(passkeys)
        .set({ counter, lastUsedAt: new Date(clock()) })
        .where(isThis(accountId, id))
        .run(),

    /**
     * Removes a passkey of an account.
     * @throws AppError `not_found` when the account has no such passkey
     */
    remove(accountId: string, id: string): void {
      const removed = orm.delete(passkeys).where(isThis(accountId, id)).returning().get();
      if (!removed) throw new AppError("not_found", "There is no such passkey in your account.");
    },

    removeAll: (accountId: string): void => void orm.delete(passkeys).where(isOf(accountId)).run(),
  };
}

function split(transports: string): string[] {
  return transports.split(" ").filter((each) => each !== "");
}
