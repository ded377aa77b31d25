import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { returnedRow } from "../db/returned-row.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { parseEmail } from "./email.ts";
import { createAccountTables } from "./tables.ts";

/** How long an invitation holds, in milliseconds. */
const INVITATION_LIFETIME = 7 * 24 * 3_600_000;

/** An invitation that is neither used nor expired, without its secret. */
export interface Invitation {
  readonly id: string;
  /** The address that the account gets; null where its person chooses. */
  readonly email: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type Invitations = ReturnType<typeof createInvitations>;

/** The store of invitations. They are the owner's, so that of all stores this one knows no account. */
export function createInvitations({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { invitations } = db.tables(createAccountTables);
  const { id, email, createdAt, expiresAt } = invitations;
  /** All columns but the secret's. */
  const invitation = { id, email, createdAt, expiresAt };

  const isThis = (secret: string) =>
    and(eq(invitations.hash, hashSecret(secret)), gt(invitations.expiresAt, new Date(clock())));

  return {
    /**
     * Makes an invitation. `secret` is in no file: this is the one time it can be shown.
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
      const [found] = await orm.select(invitation).from(invitations).where(isThis(secret));
      return found ?? null;
    },

    /** All that hold, oldest first. */
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
      throw new AppError("not_found", "This invitation was used, has expired or is revoked.");
    },

    /**
     * Uses an invitation up for what `make` makes, both or neither.
     * @param make writes in the same transaction alone
     * @throws AppError `not_found` for an unknown, used or expired one, and what `make` throws
     */
    use: <T>(
      secret: string,
      make: (tx: Orm, invitation: Invitation) => T | Promise<T>,
    ): Promise<T> =>
      db.transaction(async (tx) => {
        const [used] = await tx.delete(invitations).where(isThis(secret)).returning(invitation);
        if (used) return make(tx, used);
        throw notHolding();
      }),
  };
}

/** What is said to whom has an unknown, used or expired invitation. */
export function notHolding(): AppError {
  return new AppError(
    "not_found",
    "This invitation was used, has expired or is revoked. Ask for another one.",
  );
}
