import { and, asc, eq } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Identity } from "./provider.ts";
import { createSignInTables } from "./tables.ts";

type Known = Pick<Identity, "issuer" | "subject">;

export type Identities = ReturnType<typeof createIdentities>;

/** The store of the identities that providers know people by. `clock` gives milliseconds since 1970. */
export function createIdentities({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { identities } = db.tables(createSignInTables);
  const isThis = ({ issuer, subject }: Known) =>
    and(eq(identities.issuer, issuer), eq(identities.subject, subject));

  const findAccount = async (identity: Known): Promise<string | null> => {
    const known = orm.select({ accountId: identities.accountId }).from(identities);
    const [row] = await known.where(isThis(identity));
    return row?.accountId ?? null;
  };

  return {
    /** The account that an identity signs in to; null for none. */
    findAccount,

    /**
     * Connects an identity with an account, so that it can sign in.
     * @throws AppError `conflict` when it is connected with another account
     */
    async link(accountId: string, { issuer, subject }: Known): Promise<void> {
      const row = { issuer, subject, accountId, createdAt: new Date(clock()) };
      await orm.insert(identities).values(row).onConflictDoNothing();
      if ((await findAccount(row)) === accountId) return;
      throw new AppError("conflict", "This identity signs in to another account of this server.");
    },

    /** The issuers that an account is connected with, oldest first. */
    async issuers(accountId: string, tx: Orm = orm): Promise<string[]> {
      const rows = await tx
        .select({ issuer: identities.issuer })
        .from(identities)
        .where(eq(identities.accountId, accountId))
        .orderBy(asc(identities.createdAt), asc(identities.issuer));
      return rows.map(({ issuer }) => issuer);
    },

    /** Disconnects an account from an issuer. */
    async unlink(accountId: string, issuer: string, tx: Orm = orm): Promise<void> {
      await tx
        .delete(identities)
        .where(and(eq(identities.accountId, accountId), eq(identities.issuer, issuer)));
    },
  };
}
