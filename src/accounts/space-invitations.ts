import { and, asc, count, eq, gt, gte, isNull, lte, or, type SQL } from "drizzle-orm";
import { type Orm, returnedRow, type StoreParts } from "../db/database.ts";
import { createId, createSecret, hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import { type Account, parseEmail } from "./account.ts";
import { INVITATION_LIFETIME, invitationGone } from "./invitations.ts";
import type { Role } from "./space.ts";
import { type Actor, checkRoom, createAsAdmin } from "./space-members.ts";
import { type AccountTables, createAccountTables } from "./tables.ts";

/** Invitations of one space that wait for an answer. */
const MAX_WAITING = 200;

/** An invitation into a space that is neither used nor expired, without its secret. */
export type SpaceInvitation = Omit<
  AccountTables["spaceInvitations"]["$inferSelect"],
  "hash" | "invitedBy"
> & {
  readonly spaceName: string;
};

/** The person who answers an invitation. */
type Invited = Pick<Account, "id" | "email" | "createdAt">;

/**
 * The store of invitations into spaces. One with an address is for the account that has it, and whoever has the account
 * already needs no link. An account that is newer than the invitation does, because an address is not always proved. An
 * invitation holds only while who made it is an admin, so that a removed admin can't come back by a link.
 */
export function createSpaceInvitations({ db, clock }: StoreParts) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, spaceInvitations, spaces, spaceMembers } = tables;
  const asAdmin = createAsAdmin(db);
  const { id, spaceId, email, invitedBy, role, createdAt, expiresAt } = spaceInvitations;
  const isOfInviter = and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.accountId, invitedBy));
  const isOfAdmin = and(eq(spaceMembers.role, "admin"), isNull(accounts.disabledAt));
  const isValid = () =>
    and(
      gt(expiresAt, new Date(clock())),
      isNull(spaces.disabledAt),
      or(isNull(invitedBy), isOfAdmin),
    );
  const byHash = (secret: string) => eq(spaceInvitations.hash, hashSecret(secret));
  const forAccount = (account: Invited) =>
    and(eq(email, account.email), gte(createdAt, account.createdAt));

  const list = async (condition: SQL | undefined, reader: Orm = orm): Promise<SpaceInvitation[]> =>
    await reader
      .select({ id, spaceId, email, role, createdAt, expiresAt, spaceName: spaces.name })
      .from(spaceInvitations)
      .innerJoin(spaces, eq(spaces.id, spaceId))
      .leftJoin(spaceMembers, isOfInviter)
      .leftJoin(accounts, eq(accounts.id, invitedBy))
      .where(and(condition, isValid()))
      .orderBy(asc(id));

  /** Lets a person join by the invitation that a condition selects. */
  const accept = (person: Invited, condition: SQL | undefined): Promise<SpaceInvitation> =>
    db.transaction(async (tx) => {
      const [invitation] = await list(condition, tx);
      if (!invitation || (invitation.email ?? person.email) !== person.email) {
        throw invitationGone();
      }
      await checkRoom(tx, tables, { accountId: person.id, spaceId: invitation.spaceId });
      await tx.delete(spaceInvitations).where(eq(id, invitation.id));
      const joined = await tx
        .insert(spaceMembers)
        .values({
          spaceId: invitation.spaceId,
          accountId: person.id,
          role: invitation.role,
          joinedAt: new Date(clock()),
        })
        .onConflictDoNothing()
        .returning({ id: spaceMembers.accountId });
      if (joined.length > 0) return invitation;
      throw new AppError("conflict", "You are a member of this space already.");
    });

  return {
    /**
     * Invites somebody. Only the hash of `secret` is stored: it can be shown now and never again.
     * @param wanted.email the only address whose account may join; null for anybody with the link
     * @throws AppError `forbidden` for who is no admin, `validation_failed` for a bad address
     */
    async create(actor: Actor, space: string, wanted: { email: string | null; role: Role }) {
      const now = clock();
      const secret = createSecret("");
      const row = {
        id: createId("inv", now),
        spaceId: space,
        hash: hashSecret(secret),
        email: wanted.email === null ? null : parseEmail(wanted.email),
        invitedBy: actor,
        role: wanted.role,
        createdAt: new Date(now),
        expiresAt: new Date(now + INVITATION_LIFETIME),
      };
      const invitation = await asAdmin(actor, space, async (tx) => {
        await tx.delete(spaceInvitations).where(lte(expiresAt, new Date(now)));
        const waiting = tx.select({ all: count() }).from(spaceInvitations);
        if (returnedRow(await waiting.where(eq(spaceId, space))).all >= MAX_WAITING) {
          const message = `At most ${MAX_WAITING} invitations of a space can wait for an answer.`;
          throw new AppError("conflict", message);
        }
        await tx.insert(spaceInvitations).values(row);
        return returnedRow(await list(eq(id, row.id), tx));
      });
      return { secret, invitation };
    },

    /** The invitations of a space, oldest first. */
    list: (space: string): Promise<SpaceInvitation[]> => list(eq(spaceId, space)),

    /** The invitations that a person needs no link for. */
    listFor: (person: Invited): Promise<SpaceInvitation[]> => list(forAccount(person)),

    /** The invitation with a secret; null for an unknown, used or expired one. */
    async find(secret: string): Promise<SpaceInvitation | null> {
      const [found] = await list(byHash(secret));
      return found ?? null;
    },

    /** Joins a space by the secret of a link. @throws AppError `not_found`, `conflict` for a member */
    acceptLink: (person: Invited, secret: string) => accept(person, byHash(secret)),

    /** Joins a space by one of `listFor`. @throws AppError as `acceptLink` */
    accept: (person: Invited, invitation: string) =>
      accept(person, and(eq(id, invitation), forAccount(person))),

    /** Refuses one of `listFor`. */
    async decline(person: Invited, invitation: string): Promise<void> {
      await orm.delete(spaceInvitations).where(and(eq(id, invitation), forAccount(person)));
    },

    /** @throws AppError `forbidden` for who is no admin, `not_found` */
    revoke: (actor: Actor, space: string, invitation: string): Promise<void> =>
      asAdmin(actor, space, async (tx) => {
        const isThis = and(eq(id, invitation), eq(spaceId, space));
        const revoked = await tx.delete(spaceInvitations).where(isThis).returning({ id });
        if (revoked.length === 0) throw invitationGone();
      }),
  };
}
