import { SQLiteError } from "bun:sqlite";
import { and, asc, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { hashSecret } from "../db/secret.ts";
import { createUseMark } from "../db/use-mark.ts";
import { AppError } from "../errors.ts";
import { generateKey, isWellFormed } from "./key-format.ts";
import { type NewKey, parseNewKey } from "./new-key.ts";
import type { Scope } from "./scopes.ts";
import { apiKeys } from "./tables.ts";

/** What is kept of a key. */
export interface KeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Whom a key speaks for. */
export interface KeyHolder {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly keyId: string;
  readonly name: string;
}

/** A key as the security log names it. */
export const keyFacts = ({ accountId, id, name, prefix }: KeyRecord) => ({
  accountId,
  subjectId: id,
  subject: `${prefix}… ${name}`,
});

export type Keys = ReturnType<typeof createKeys>;

const RECORD = {
  id: apiKeys.id,
  accountId: apiKeys.accountId,
  prefix: apiKeys.prefix,
  name: apiKeys.name,
  scopes: apiKeys.scopes,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
  expiresAt: apiKeys.expiresAt,
  revokedAt: apiKeys.revokedAt,
};

/** The store of API keys. `clock` gives milliseconds since 1970. */
export function createKeys({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const mark = orm
    .update(apiKeys)
    .set({ lastUsedAt: sql`${sql.placeholder("now")}` })
    .where(eq(apiKeys.id, sql.placeholder("id")))
    .prepare();
  const markUsed = createUseMark(db, (id, now) => void mark.run({ id, now }));

  const holder = orm
    .select({
      keyId: apiKeys.id,
      name: apiKeys.name,
      accountId: apiKeys.accountId,
      scopes: apiKeys.scopes,
      lastUsedAt: apiKeys.lastUsedAt,
    })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.hash, sql.placeholder("hash")),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql.placeholder("now"))),
      ),
    )
    .prepare();

  const revokeWhere = (condition: SQL | undefined): KeyRecord => {
    const record = orm
      .update(apiKeys)
      .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${clock()})` })
      .where(condition)
      .returning(RECORD)
      .get();
    if (!record) throw new AppError("not_found", "No key with this id.");
    return record;
  };

  return {
    /**
     * Makes a key. `key` is in no file: this is the one time it can be shown.
     * @throws AppError `validation_failed`, or `not_found` for an unknown account
     */
    create(accountId: string, wanted: NewKey): { key: string; record: KeyRecord } {
      const now = clock();
      const { name, scopes, expiresAt } = parseNewKey(wanted, now);
      const key = generateKey();
      const row = {
        id: createId("key", now),
        accountId,
        hash: hashSecret(key),
        prefix: key.slice(0, 8),
        name,
        scopes,
        createdAt: new Date(now),
        expiresAt,
      };
      try {
        return { key, record: orm.insert(apiKeys).values(row).returning(RECORD).get() };
      } catch (error) {
        if (!isUnknownAccount(error)) throw error;
        throw new AppError("not_found", "No account with this id.", { cause: error });
      }
    },

    /** The account's keys, revoked and expired ones too, oldest first. */
    list: (accountId: string): KeyRecord[] =>
      orm
        .select(RECORD)
        .from(apiKeys)
        .where(eq(apiKeys.accountId, accountId))
        .orderBy(asc(apiKeys.id))
        .all(),

    /**
     * Revokes a key for good: every process refuses it from its next request on. Revoking twice
     * keeps the first time.
     * @throws AppError `not_found` when the account has no such key
     */
    revoke: (accountId: string, id: string): KeyRecord =>
      revokeWhere(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id))),

    /** Revokes all keys of an account that still hold. Returns how many. */
    revokeAll: (accountId: string): number =>
      orm
        .update(apiKeys)
        .set({ revokedAt: new Date(clock()) })
        .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAt)))
        .returning({ id: apiKeys.id })
        .all().length,

    /** The keys of all accounts, for the administrator at the command line. */
    listOfAllAccounts: (): KeyRecord[] =>
      orm.select(RECORD).from(apiKeys).orderBy(asc(apiKeys.id)).all(),

    /** Like `revoke`, for a key of any account: for the administrator at the command line. */
    revokeOfAnyAccount: (id: string): KeyRecord => revokeWhere(eq(apiKeys.id, id)),

    /** What is kept of a key that is refused because it was revoked or has expired; else null. */
    findRefused: (presented: string): KeyRecord | null =>
      isWellFormed(presented)
        ? (orm
            .select(RECORD)
            .from(apiKeys)
            .where(eq(apiKeys.hash, hashSecret(presented)))
            .get() ?? null)
        : null,

    /**
     * Tells whom a key speaks for; null for a malformed, unknown, expired or revoked one. Asks the
     * database on every call, so that another process's revocation counts at once.
     */
    authenticate(presented: string): KeyHolder | null {
      if (!isWellFormed(presented)) return null;
      const now = clock();
      const row = holder.get({ hash: hashSecret(presented), now });
      if (!row) return null;
      const { lastUsedAt, ...found } = row;
      markUsed(found.keyId, lastUsedAt, now);
      return found;
    },
  };
}

function isUnknownAccount(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_CONSTRAINT_FOREIGNKEY";
}
