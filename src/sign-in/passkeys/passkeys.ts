import { and, asc, count, desc, eq, gt, inArray, lt, lte } from "drizzle-orm";
import type { Orm, StoreParts } from "../../db/database.ts";
import { createSecret, hashSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { hasHidden } from "../../text/plain-text.ts";
import { createSignInTables } from "../tables.ts";

/** Milliseconds that a person may take to unlock their device. */
const LIFETIME = 5 * 60_000;
/** Strangers can request challenges: the oldest are removed first. */
const MAX_CHALLENGES = 10_000;

/** The purpose of a signature. A signature for one purpose is not valid for another. */
export type PasskeyPurpose = "sign-in" | "second-step" | "proof" | "register";

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** The store of challenges that browsers must sign. */
export function createPasskeyChallenges({ db, clock }: StoreParts) {
  const { orm } = db;
  const { passkeyChallenges } = db.tables(createSignInTables);
  const nameOf = (browser: string, purpose: PasskeyPurpose) =>
    hashSecret(`challenge ${purpose} ${browser}`);

  return {
    /**
     * Creates a challenge for a browser, which replaces the one before it.
     * @param browser the secret of its cookie
     */
    async create(browser: string, purpose: PasskeyPurpose): Promise<string> {
      const now = clock();
      const challenge = createSecret("");
      const expiresAt = new Date(now + LIFETIME);
      await orm.delete(passkeyChallenges).where(lte(passkeyChallenges.expiresAt, new Date(now)));
      const surplus = orm
        .select({ hash: passkeyChallenges.hash })
        .from(passkeyChallenges)
        .orderBy(desc(passkeyChallenges.expiresAt))
        .limit(MAX_CHALLENGES)
        .offset(MAX_CHALLENGES - 1);
      await orm.delete(passkeyChallenges).where(inArray(passkeyChallenges.hash, surplus));
      await orm
        .insert(passkeyChallenges)
        .values({ hash: nameOf(browser, purpose), challenge, expiresAt })
        .onConflictDoUpdate({ target: passkeyChallenges.hash, set: { challenge, expiresAt } });
      return challenge;
    },

    /** Removes and returns the challenge of a browser; null for none. */
    async take(browser: string, purpose: PasskeyPurpose): Promise<string | null> {
      const [taken] = await orm
        .delete(passkeyChallenges)
        .where(
          and(
            eq(passkeyChallenges.hash, nameOf(browser, purpose)),
            gt(passkeyChallenges.expiresAt, new Date(clock())),
          ),
        )
        .returning({ challenge: passkeyChallenges.challenge });
      return taken?.challenge ?? null;
    },
  };
}

/** More than anyone has devices. The limit keeps the options for a browser small. */
const MAX_PASSKEYS = 20;
const MAX_NAME = 60;

/** The fields for checking a signature. */
interface Passkey {
  /** In base64url. */
  readonly id: string;
  /** In COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: string[];
}

export type Passkeys = ReturnType<typeof createPasskeys>;

/** A passkey as the account page shows it. */
export type PasskeyRecord = Awaited<ReturnType<Passkeys["list"]>>[number];

/** The store of passkeys. */
export function createPasskeys({ db, clock }: StoreParts) {
  const { orm } = db;
  const { passkeys } = db.tables(createSignInTables);
  const isOf = (accountId: string) => eq(passkeys.accountId, accountId);
  const isThis = (accountId: string, id: string) => and(isOf(accountId), eq(passkeys.id, id));
  const countOf = async (accountId: string, tx: Orm = orm): Promise<number> => {
    const [row] = await tx.select({ count: count() }).from(passkeys).where(isOf(accountId));
    return row?.count ?? 0;
  };

  return {
    /**
     * Adds a passkey to an account.
     * @throws AppError `validation_failed` for a bad name, `conflict` for a passkey that is known
     */
    async add(accountId: string, passkey: Passkey & { name: string }): Promise<void> {
      const { transports, publicKey, ...rest } = passkey;
      const name = rest.name.trim() || "Passkey";
      if (name.length > MAX_NAME || hasHidden(name)) {
        const message = `A passkey's name has at most ${MAX_NAME} characters and no control characters.`;
        throw new AppError("validation_failed", message);
      }
      const row = {
        ...rest,
        name,
        accountId,
        publicKey: Buffer.from(publicKey),
        transports: transports.join(" "),
        createdAt: new Date(clock()),
      };
      await db.transaction(async (tx) => {
        if ((await countOf(accountId, tx)) >= MAX_PASSKEYS) {
          throw new AppError(
            "conflict",
            `An account has at most ${MAX_PASSKEYS} passkeys: remove one first.`,
          );
        }
        const added = tx.insert(passkeys).values(row).onConflictDoNothing();
        const [made] = await added.returning({ id: passkeys.id });
        if (!made) throw new AppError("conflict", "This passkey is already in use here.");
      });
    },

    /** The account's passkeys, oldest first. */
    list: async (accountId: string) =>
      await orm
        .select({
          id: passkeys.id,
          name: passkeys.name,
          createdAt: passkeys.createdAt,
          lastUsedAt: passkeys.lastUsedAt,
        })
        .from(passkeys)
        .where(isOf(accountId))
        .orderBy(asc(passkeys.createdAt), asc(passkeys.id)),

    count: countOf,

    /** The ids of the account's passkeys, and how a browser reaches them. */
    async describe(accountId: string): Promise<Pick<Passkey, "id" | "transports">[]> {
      const rows = await orm
        .select({ id: passkeys.id, transports: passkeys.transports })
        .from(passkeys)
        .where(isOf(accountId))
        .orderBy(asc(passkeys.createdAt), asc(passkeys.id));
      return rows.map(({ id, transports }) => ({ id, transports: split(transports) }));
    },

    /** The account that a passkey signs in to; null for an unknown passkey. */
    async findAccount(id: string): Promise<string | null> {
      const holder = orm.select({ accountId: passkeys.accountId }).from(passkeys);
      const [row] = await holder.where(eq(passkeys.id, id));
      return row?.accountId ?? null;
    },

    /** A passkey of an account; null for one of another account. */
    async find(accountId: string, id: string): Promise<Passkey | null> {
      const [row] = await orm.select().from(passkeys).where(isThis(accountId, id));
      if (!row) return null;
      const { publicKey, counter, transports } = row;
      return {
        id,
        publicKey: Uint8Array.from(publicKey),
        counter,
        transports: split(transports),
      };
    },

    /**
     * Records a use of a passkey, and its own count of uses. Returns false if, while the signature was
     * checked, the passkey was removed or another use reached the count.
     */
    async markUsed(accountId: string, id: string, counter: number): Promise<boolean> {
      // WebAuthn, section 7.2: passkeys that do not count send 0.
      const isNext = counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter);
      const marked = await orm
        .update(passkeys)
        .set({ counter, lastUsedAt: new Date(clock()) })
        .where(and(isThis(accountId, id), isNext))
        .returning({ id: passkeys.id });
      return marked.length > 0;
    },

    /**
     * Removes a passkey of an account.
     * @throws AppError `not_found` when the account has no such passkey
     */
    async remove(accountId: string, id: string, tx: Orm = orm): Promise<void> {
      const removed = await tx
        .delete(passkeys)
        .where(isThis(accountId, id))
        .returning({ id: passkeys.id });
      if (removed.length === 0)
        throw new AppError("not_found", "There is no such passkey in your account.");
    },
  };
}

function split(transports: string): string[] {
  return transports.split(" ").filter((each) => each !== "");
}
