import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { parseEmail } from "./email.ts";
import { invitations } from "./tables.ts";

/** How long an invitation holds, in milliseconds. */
export const INVITATION_LIFETIME = 7 * 24 * 3_600_000;

/** An invitation that is neither used nor expired, without its secret. */
export interface Invitation {
  readonly id: string;
  /** The address that the account gets; null where its person chooses. */
  readonly email: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type Invitations = ReturnType<typeof createInvitations>;

const INVITATION = {
  id: invitations.id,
  email: invitations.email,
  createdAt: invitations.createdAt,
  expiresAt: invitations.expiresAt,
};

/** The store of invitations. They are the owner's, so that of all stores this one knows no account. */
export function createInvitations({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const isThis = (secret: string) =>
    and(eq(invitations.hash, hashSecret(secret)), gt(invitations.expiresAt, new Date(clock())));

  return {
    /**
     * Makes an invitation. `secret` is in no file: this is the one time it can be shown.
     * @throws AppError `validation_failed` for a bad address
     */
    create(typed: string | null): { secret: string; invitation: Invitation } {
      const email = typed === null ? null : parseEmail(typed);
      const now = clock();
      const secret = createSecret("");
      orm
        .delete(invitations)
        .where(lte(invitations.expiresAt, new Date(now)))
        .run();
      const invitation = orm
        .insert(invitations)
        .values({
          id: createId("inv", now),
          hash: hashSecret(secret),
          email,
          createdAt: new Date(now),
          expiresAt: new Date(now + INVITATION_LIFETIME),
        })
        .returning(INVITATION)
        .get();
      return { secret, invitation };
    },

    /** The invitation with a secret; null for an unknown, used or expired one. */
    find: (secret: string): Invitation | null =>
      orm.select(INVITATION).from(invitations).where(isThis(secret)).get() ?? null,

    /** All that hold, oldest first. */
    list: (): Invitation[] =>
      orm
        .select(INVITATION)
        .from(invitations)
        .where(gt(invitations.expiresAt, new Date(clock())))
        .orderBy(asc(invitations.id))
        .all(),

    /** @throws AppError `not_found` */
    revoke(id: string): void {
      if (orm.delete(invitations).where(eq(invitations.id, id)).returning(INVITATION).get()) return;
      throw new AppError("not_found", "This invitation was used, has expired or is revoked.");
    },

    /**
     * Uses an invitation up for what `make` makes, both or neither.
     * @throws AppError `not_found` for an unknown, used or expired one, and what `make` throws
     */
    use: <T>(secret: string, make: (invitation: Invitation) => T): T =>
      orm.transaction(
        (tx) => {
          const invitation = tx
            .delete(invitations)
            .where(isThis(secret))
            .returning(INVITATION)
            .get();
          if (invitation) return make(invitation);
          throw notHolding();
        },
        { behavior: "immediate" },
      ),
  };
}

/** What is said to whom has an unknown, used or expired invitation. */
export function notHolding(): AppError {
  return new AppError(
    "not_found",
    "This invitation was used, has expired or is revoked. Ask for another one.",
  );
}
