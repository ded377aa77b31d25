import { and, asc, eq, gt, lte } from "drizzle-orm";
import { type Orm, returnedRow, type StoreParts } from "../db/database.ts";
import { createId, createSecret, hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import { parseEmail } from "./account.ts";
import { type AccountTables, createAccountTables } from "./tables.ts";

/** Milliseconds for which an invitation is valid. */
export const INVITATION_LIFETIME = 7 * 24 * 3_600_000;

/** An invitation that is neither used nor expired, without its secret. */
export type Invitation = Omit<AccountTables["invitations"]["$inferSelect"], "hash">;

export type Invitations = ReturnType<typeof createInvitations>;

/** The store of invitations. They belong to the owner, so its functions take no account. */
export function createInvitations({ db, clock }: StoreParts) {
  const { orm } = db;
  const { invitations } = db.tables(createAccountTables);
  const { id, email, createdAt, expiresAt } = invitations;
  /** All columns except the secret's hash. */
  const invitation = { id, email, createdAt, expiresAt };

  const byHash = (secret: string) =>
    and(eq(invitations.hash, hashSecret(secret)), gt(invitations.expiresAt, new Date(clock())));

  return {
    /**
     * Creates an invitation. Only the hash of `secret` is stored: it can be shown now and never again.
     * @throws AppError `validation_failed` for a bad address
     */
    async create(typed: string | null): Promise<{ secret: string; invitation: Invitation }> {
      const email = typed === null ? null : parseEmail(typed);
      const now = clock();
      const secret = createSecret("");
      const row = {
        id: createId("inv", now),
        hash: hashSecret(secret),
        email,
        createdAt: new Date(now),
        expiresAt: new Date(now + INVITATION_LIFETIME),
      };
      await orm.delete(invitations).where(lte(expiresAt, new Date(now)));
      const made = await orm.insert(invitations).values(row).returning(invitation);
      return { secret, invitation: returnedRow(made) };
    },

    /** The invitation with a secret; null for an unknown, used or expired one. */
    async find(secret: string): Promise<Invitation | null> {
      const [found] = await orm.select(invitation).from(invitations).where(byHash(secret));
      return found ?? null;
    },

    /** All valid invitations, oldest first. */
    list: async (): Promise<Invitation[]> =>
      await orm
        .select(invitation)
        .from(invitations)
        .where(gt(expiresAt, new Date(clock())))
        .orderBy(asc(id)),

    /** @throws AppError `not_found` */
    async revoke(revokedId: string): Promise<void> {
      const revoked = await orm.delete(invitations).where(eq(id, revokedId)).returning({ id });
      if (revoked.length > 0) return;
      throw new AppError("not_found", "This invitation was used, has expired or was revoked.");
    },

    /**
     * Uses up an invitation for what `make` creates, in one transaction.
     * @param make writes only by the transaction that it receives
     * @throws AppError `not_found` for an unknown, used or expired invitation, and the errors of `make`
     */
    use: <T>(
      secret: string,
      make: (tx: Orm, invitation: Invitation) => T | Promise<T>,
    ): Promise<T> =>
      db.transaction(async (tx) => {
        const [used] = await tx.delete(invitations).where(byHash(secret)).returning(invitation);
        if (used) return make(tx, used);
        throw invitationGone();
      }),
  };
}

/** The error for an unknown, used or expired invitation. */
export function invitationGone(): AppError {
  return new AppError(
    "not_found",
    "This invitation was used, has expired or was revoked. Ask for a new one.",
  );
}
