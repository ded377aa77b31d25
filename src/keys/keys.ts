import { and, asc, eq, getTableColumns, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { createLastUsedWriter, type Orm, returnedRow, type StoreParts } from "../db/database.ts";
import { constraintViolation } from "../db/database-error.ts";
import { createId, hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import { generateKey, isWellFormed, type NewKey, parseNewKey } from "./new-key.ts";
import {
  type Bound,
  type BoundColumns,
  boundForms,
  inBoundForm,
  toBound,
  toBoundColumns,
} from "./reach.ts";
import { createKeyTables } from "./tables.ts";

/** A key without its secret. */
export type KeyRecord = Omit<KeyTable["$inferSelect"], "hash" | keyof BoundColumns> & {
  readonly bound: Bound | null;
};

type KeyTable = ReturnType<typeof createKeyTables>["apiKeys"];

/** The fields that name a key in the security log. */
export const keyFacts = ({ accountId, id, name, prefix }: KeyRecord) => ({
  accountId,
  subjectId: id,
  subject: `${prefix}… ${name}`,
});

/** Finds a valid key by its hash, in any of its forms. */
function prepareHolder(orm: Orm, apiKeys: KeyTable) {
  return orm
    .select({
      keyId: apiKeys.id,
      name: apiKeys.name,
      accountId: apiKeys.accountId,
      scopes: apiKeys.scopes,
      project: apiKeys.project,
      projectOnly: apiKeys.projectOnly,
      lastUsedAt: apiKeys.lastUsedAt,
      pausedAt: apiKeys.pausedAt,
      spaceId: apiKeys.spaceId,
    })
    .from(apiKeys)
    .where(
      and(
        inArray(
          apiKeys.hash,
          boundForms("").map((_, form) => sql.placeholder(`hash${form}`)),
        ),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql.placeholder("now"))),
      ),
    )
    .prepare();
}

export type Keys = ReturnType<typeof createKeys>;

/** The store of API keys. */
export function createKeys({ db, clock }: StoreParts) {
  const { orm } = db;
  const { apiKeys } = db.tables(createKeyTables);
  const { hash: _, ...record } = getTableColumns(apiKeys);

  const markUsed = createLastUsedWriter(db, async (tx, id, now) => {
    await tx
      .update(apiKeys)
      .set({ lastUsedAt: new Date(now) })
      .where(eq(apiKeys.id, id));
  });

  const holder = prepareHolder(orm, apiKeys);

  const listWhere = async (condition: SQL | undefined): Promise<KeyRecord[]> => {
    const rows = await orm.select(record).from(apiKeys).where(condition).orderBy(asc(apiKeys.id));
    return rows.map(toRecord);
  };

  const changeWhere = async (
    condition: SQL | undefined,
    changes: { revokedAt: SQL } | { pausedAt: Date | null },
  ): Promise<KeyRecord> => {
    const [changed] = await orm.update(apiKeys).set(changes).where(condition).returning(record);
    if (!changed) throw new AppError("not_found", "No key with this id.");
    return toRecord(changed);
  };
  const revokeWhere = (condition: SQL | undefined): Promise<KeyRecord> =>
    changeWhere(condition, { revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${clock()})` });

  return {
    /**
     * Creates a key. Only the hash of `key` is stored: it can be shown now and never again.
     * @throws AppError `validation_failed`, or `not_found` for an unknown account
     */
    async create(accountId: string, wanted: NewKey): Promise<{ key: string; record: KeyRecord }> {
      const now = clock();
      const { name, scopes, expiresAt, bound, spaceId } = parseNewKey(wanted, now);
      const key = generateKey();
      const hash = hashSecret(key);
      const row = {
        id: createId("key", now),
        accountId,
        hash: inBoundForm(hash, { bound, spaceId }),
        prefix: key.slice(0, 8),
        name,
        scopes,
        ...toBoundColumns(bound),
        spaceId,
        createdAt: new Date(now),
        expiresAt,
      };
      try {
        const made = returnedRow(await orm.insert(apiKeys).values(row).returning(record));
        return { key, record: toRecord(made) };
      } catch (error) {
        if (constraintViolation(error) !== "foreign key") throw error;
        throw new AppError("not_found", "No account with this id.", { cause: error });
      }
    },

    /** The keys of an account, oldest first, including revoked and expired ones. */
    list: (accountId: string): Promise<KeyRecord[]> => listWhere(eq(apiKeys.accountId, accountId)),

    /**
     * Revokes a key permanently. Every process refuses it from its next request on. A second revocation
     * does not change the time of the first.
     * @throws AppError `not_found` when the account has no such key
     */
    revoke: (accountId: string, id: string): Promise<KeyRecord> =>
      revokeWhere(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id))),

    /**
     * Pauses a key, or resumes it. Every process refuses a paused key from its next request on.
     * @throws AppError `not_found` when the account has no such key
     */
    pause: (accountId: string, id: string, isPaused: boolean): Promise<KeyRecord> =>
      changeWhere(and(eq(apiKeys.accountId, accountId), eq(apiKeys.id, id)), {
        pausedAt: isPaused ? new Date(clock()) : null,
      }),

    /** Revokes all valid keys of an account. Returns how many. */
    async revokeAll(accountId: string): Promise<number> {
      const revoked = await orm
        .update(apiKeys)
        .set({ revokedAt: new Date(clock()) })
        .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAt)))
        .returning({ id: apiKeys.id });
      return revoked.length;
    },

    /** Which of these ids are of keys that were revoked, or that nobody has. */
    async gone(ids: readonly string[]): Promise<string[]> {
      const isThere = and(inArray(apiKeys.id, [...ids]), isNull(apiKeys.revokedAt));
      const found = await orm.select({ id: apiKeys.id }).from(apiKeys).where(isThere);
      const there = new Set(found.map(({ id }) => id));
      return ids.filter((id) => !there.has(id));
    },

    /** The keys of all accounts, for the command line. */
    listOfAllAccounts: (): Promise<KeyRecord[]> => listWhere(undefined),

    /** Revokes a key of any account, for the command line. */
    revokeOfAnyAccount: (id: string): Promise<KeyRecord> => revokeWhere(eq(apiKeys.id, id)),

    /** The record of a revoked or expired key; null for others. */
    async findRefused(presented: string): Promise<KeyRecord | null> {
      if (!isWellFormed(presented)) return null;
      const [found] = await listWhere(inArray(apiKeys.hash, boundForms(hashSecret(presented))));
      return found ?? null;
    },

    /**
     * Returns the holder of a key; null for a malformed, unknown, expired or revoked key. Every call
     * reads the database, so that revocations by other processes take effect at once.
     */
    async authenticate(presented: string) {
      if (!isWellFormed(presented)) return null;
      const now = clock();
      const [hash0, hash1, hash2] = boundForms(hashSecret(presented));
      const [row] = await holder.execute({ hash0, hash1, hash2, now });
      if (!row) return null;
      const { lastUsedAt, pausedAt, project, projectOnly, ...found } = row;
      await markUsed(found.keyId, lastUsedAt, now);
      return { ...found, isPaused: pausedAt !== null, bound: toBound({ project, projectOnly }) };
    },
  };
}

function toRecord({
  project,
  projectOnly,
  ...row
}: Omit<KeyRecord, "bound"> & BoundColumns): KeyRecord {
  return { ...row, bound: toBound({ project, projectOnly }) };
}
