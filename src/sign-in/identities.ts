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

  const findAccount = async (identity: Known, tx: Orm = orm): Promise<string | null> => {
    const known = tx.select({ accountId: identities.accountId }).from(identities);
    const [row] = await known.where(isThis(identity));
    return row?.accountId ?? null;
  };

  const issuersOf = async (accountId: string, tx: Orm = orm): Promise<string[]> => {
    const rows = await tx
      .select({ issuer: identities.issuer })
      .from(identities)
      .where(eq(identities.accountId, accountId))
      .orderBy(asc(identities.createdAt), asc(identities.issuer));
    return rows.map(({ issuer }) => issuer);
  };

  return {
    /** The account that an identity signs in to; null for none. */
    findAccount,

    /**
     * Connects an identity with an account, so that it can sign in.
     * @param byAddress whether they belong together only by the e-mail address. A provider may give an
     *   address to another person later (OpenID Connect Core 1.0, section 5.7), so the account must not be
     *   connected with this issuer yet.
     * @throws AppError `conflict` when the identity is connected with another account, `forbidden` when the
     *   account has another identity of the issuer
     */
    link: (accountId: string, { issuer, subject }: Known, { byAddress = false } = {}) =>
      db.transaction(async (tx) => {
        const known = await findAccount({ issuer, subject }, tx);
        if (known === accountId) return;
        if (known !== null) {
          throw new AppError(
            "conflict",
            "This identity signs in to another account of this server.",
          );
        }
        if (byAddress && (await issuersOf(accountId, tx)).includes(issuer)) {
          throw new AppError(
            "forbidden",
            "An account with your address signs in as another user of this provider. Sign in as that user or in another way, then connect this one on the page Account.",
          );
        }
        await tx
          .insert(identities)
          .values({ issuer, subject, accountId, createdAt: new Date(clock()) });
      }),

    /** The issuers that an account is connected with, oldest first. */
    issuers: issuersOf,

    /** Disconnects an account from an issuer. */
    async unlink(accountId: string, issuer: string, tx: Orm = orm): Promise<void> {
      await tx
        .delete(identities)
        .where(and(eq(identities.accountId, accountId), eq(identities.issuer, issuer)));
    },
  };
}
