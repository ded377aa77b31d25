import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createAccountTables } from "./tables.ts";

/** How much an account may keep; null is without end. */
export interface AccountQuota {
  readonly memories: number | null;
  readonly bytes: number | null;
}

export type Quotas = ReturnType<typeof createQuotas>;

/**
 * What the owner allows each account to keep.
 * @param ofMembers what a member may keep for whom nothing is set
 */
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
    /** What a member may keep for whom nothing is set; null when nothing is limited. */
    ofMembers,

    /** Null when nothing is limited. Asks the database, so that another process's change counts. */
    async of(accountId: string): Promise<AccountQuota | null> {
      const [found] = await find.execute({ accountId });
      if (!found) return null;
      const { role, isSet, memories, bytes } = found;
      if (isSet === null) return role === "member" ? ofMembers : null;
      return memories === null && bytes === null ? null : { memories, bytes };
    },

    /**
     * Limits an existing account from its next write on; what it has already stays. What is set
     * here, be it that nothing is limited, wins over what members may keep in general.
     */
    async set(accountId: string, { memories, bytes }: AccountQuota): Promise<void> {
      await orm
        .insert(quotas)
        .values({ accountId, memories, bytes })
        .onConflictDoUpdate({ target: quotas.accountId, set: { memories, bytes } });
    },

    /** Whether the owner has set something for an account, be it that nothing is limited. */
    async isSet(accountId: string): Promise<boolean> {
      const [found] = await find.execute({ accountId });
      return found !== undefined && found.isSet !== null;
    },

    /** Lets an account keep again what others of its role may. */
    async clear(accountId: string): Promise<void> {
      await orm.delete(quotas).where(eq(quotas.accountId, accountId));
    },
  };
}
