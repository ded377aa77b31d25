import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createAccountTables } from "./tables.ts";

/** How much an account may keep; null means unlimited. */
export interface AccountQuota {
  readonly memories: number | null;
  readonly bytes: number | null;
}

export type Quotas = ReturnType<typeof createQuotas>;

/** The store of quotas. @param ofMembers the quota of members without one of their own */
export function createQuotas({
  db,
  ofMembers = null,
}: {
  db: Database;
  ofMembers?: AccountQuota | null;
}) {
  const { orm } = db;
  const { accounts, quotas } = db.tables(createAccountTables);
  const find = orm
    .select({
      role: accounts.role,
      isSet: quotas.accountId,
      memories: quotas.memories,
      bytes: quotas.bytes,
    })
    .from(accounts)
    .leftJoin(quotas, eq(quotas.accountId, accounts.id))
    .where(eq(accounts.id, sql.placeholder("accountId")))
    .prepare();

  return {
    /** The quota of members without one of their own; null means unlimited. */
    ofMembers,

    /** An account's quota; null means unlimited. Reads the database, so that changes by other processes take effect. */
    async of(accountId: string): Promise<AccountQuota | null> {
      const [found] = await find.execute({ accountId });
      if (!found) return null;
      const { role, isSet, memories, bytes } = found;
      if (isSet === null) return role === "member" ? ofMembers : null;
      return memories === null && bytes === null ? null : { memories, bytes };
    },

    /**
     * Sets an account's own quota, which replaces the general quota of members. It may be unlimited. It
     * applies from the next write on; existing memories stay.
     */
    async set(accountId: string, { memories, bytes }: AccountQuota): Promise<void> {
      await orm
        .insert(quotas)
        .values({ accountId, memories, bytes })
        .onConflictDoUpdate({ target: quotas.accountId, set: { memories, bytes } });
    },

    /** Whether an account has a quota of its own. */
    async isSet(accountId: string): Promise<boolean> {
      const [found] = await find.execute({ accountId });
      return found !== undefined && found.isSet !== null;
    },

    /** Removes an account's own quota: the general one applies. */
    async clear(accountId: string): Promise<void> {
      await orm.delete(quotas).where(eq(quotas.accountId, accountId));
    },
  };
}
