import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { quotas } from "./tables.ts";

/** How much an account may keep; null is without end. */
export interface AccountQuota {
  readonly memories: number | null;
  readonly bytes: number | null;
}

export type Quotas = ReturnType<typeof createQuotas>;

/** What the owner allows each account to keep. */
export function createQuotas({ db }: { db: Database }) {
  const { orm } = db;
  const find = orm
    .select({ memories: quotas.memories, bytes: quotas.bytes })
    .from(quotas)
    .where(eq(quotas.accountId, sql.placeholder("accountId")))
    .prepare();

  return {
    /** Null when nothing is limited. Asks the database, so that another process's change counts. */
    of: (accountId: string): AccountQuota | null => find.get({ accountId }) ?? null,

    /** Limits an existing account from its next write on; what it has already stays. */
    set(accountId: string, { memories, bytes }: AccountQuota): void {
      if (memories === null && bytes === null) {
        orm.delete(quotas).where(eq(quotas.accountId, accountId)).run();
        return;
      }
      orm
        .insert(quotas)
        .values({ accountId, memories, bytes })
        .onConflictDoUpdate({ target: quotas.accountId, set: { memories, bytes } })
        .run();
    },
  };
}
