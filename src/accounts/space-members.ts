import { and, asc, count, eq, ne, type SQL } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { type Role, unknownSpace } from "./space.ts";
import { type AccountTables, createAccountTables } from "./tables.ts";

/** Spaces of one person, and people in one space. */
const MAX_SPACES = 100;
const MAX_MEMBERS = 1_000;

/** A person in a space. */
export interface Member {
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: Date;
}

/** Somebody who changes a space: the id of a member's account, or null for who administers the machine. */
export type Actor = string | null;

/** The part of the spaces' store that reads and changes members. */
export function createMembers({ db }: { db: Database }) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, spaceMembers } = tables;
  const asAdmin = createAsAdmin(db);
  const isMember = (spaceId: string, accountId: string) =>
    and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.accountId, accountId));

  return {
    /** The members of a space, the first one first. */
    members: async (spaceId: string): Promise<Member[]> =>
      await orm
        .select({
          accountId: spaceMembers.accountId,
          email: accounts.email,
          role: spaceMembers.role,
          joinedAt: spaceMembers.joinedAt,
        })
        .from(spaceMembers)
        .innerJoin(accounts, eq(accounts.id, spaceMembers.accountId))
        .where(eq(spaceMembers.spaceId, spaceId))
        .orderBy(asc(spaceMembers.joinedAt), asc(spaceMembers.accountId)),

    /** How many people are in a space. */
    async countMembers(spaceId: string): Promise<number> {
      const isThis = eq(spaceMembers.spaceId, spaceId);
      const [found] = await orm.select({ all: count() }).from(spaceMembers).where(isThis);
      return found?.all ?? 0;
    },

    /**
     * Gives a member another role, from the next request on.
     * @throws AppError `forbidden` for who is no admin, `not_found` for an unknown member, `conflict` for the last admin
     */
    setRole: (actor: Actor, spaceId: string, accountId: string, role: Role): Promise<void> =>
      asAdmin(actor, spaceId, async (tx) => {
        if (role !== "admin") await checkNotLast(tx, tables, spaceId, accountId);
        const changed = await tx
          .update(spaceMembers)
          .set({ role })
          .where(isMember(spaceId, accountId))
          .returning({ id: spaceMembers.accountId });
        if (changed.length === 0) throw unknownMember();
      }),

    /**
     * Removes a member, or lets one leave. Keys and grants that are bound to the space go too, and the next request is
     * refused. What the member wrote stays.
     * @throws AppError `forbidden` for who is neither an admin nor the member, `not_found`, `conflict` for the last admin
     */
    removeMember: (actor: Actor, spaceId: string, accountId: string): Promise<void> =>
      db.transaction(async (tx) => {
        if (actor !== accountId) await checkAdmin(tx, tables, actor, spaceId);
        await checkNotLast(tx, tables, spaceId, accountId);
        const left = await tx
          .delete(spaceMembers)
          .where(isMember(spaceId, accountId))
          .returning({ id: spaceMembers.accountId });
        if (left.length === 0) throw actor === accountId ? unknownSpace() : unknownMember();
      }),
  };
}

/** Creates a function that runs a change of a space, if the actor is one of its admins. */
export function createAsAdmin(db: Database) {
  const tables = db.tables(createAccountTables);
  return <Result>(
    actor: Actor,
    spaceId: string,
    change: (tx: Orm) => Promise<Result>,
  ): Promise<Result> =>
    db.transaction(async (tx) => {
      await checkAdmin(tx, tables, actor, spaceId);
      return await change(tx);
    });
}

/**
 * @throws AppError `not_found` for a space of which the actor is no member, and for one that is not there; `forbidden` for
 *   a member who is no admin
 */
async function checkAdmin(
  tx: Orm,
  { spaces, spaceMembers }: AccountTables,
  actor: Actor,
  spaceId: string,
): Promise<void> {
  const isOfActor = and(
    eq(spaceMembers.spaceId, spaces.id),
    eq(spaceMembers.accountId, actor ?? ""),
  );
  const [found] = await tx
    .select({ role: spaceMembers.role, disabledAt: spaces.disabledAt })
    .from(spaces)
    .leftJoin(spaceMembers, isOfActor)
    .where(eq(spaces.id, spaceId));
  if (found && actor === null) return;
  if (!found?.role || found.disabledAt !== null) throw unknownSpace();
  if (found.role !== "admin") {
    throw new AppError("forbidden", "Only the admins of a space can do this.");
  }
}

/** @throws AppError `conflict` for a person who is in as many spaces as anybody can be, and for a space that is full */
export async function checkRoom(
  tx: Orm,
  { spaceMembers }: AccountTables,
  { accountId, spaceId }: { accountId: string; spaceId?: string },
): Promise<void> {
  const countOf = async (condition: SQL): Promise<number> => {
    const [found] = await tx.select({ all: count() }).from(spaceMembers).where(condition);
    return found?.all ?? 0;
  };
  if ((await countOf(eq(spaceMembers.accountId, accountId))) >= MAX_SPACES) {
    throw new AppError("conflict", `A person can be in at most ${MAX_SPACES} spaces.`);
  }
  if (spaceId && (await countOf(eq(spaceMembers.spaceId, spaceId))) >= MAX_MEMBERS) {
    throw new AppError("conflict", `A space can have at most ${MAX_MEMBERS} members.`);
  }
}

/** @throws AppError `conflict` for the only admin of a space */
async function checkNotLast(
  tx: Orm,
  { spaceMembers }: AccountTables,
  spaceId: string,
  accountId: string,
): Promise<void> {
  const isAdmin = and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.role, "admin"));
  const admins = await tx.select({ id: spaceMembers.accountId }).from(spaceMembers).where(isAdmin);
  if (admins.length > 1 || admins[0]?.id !== accountId) return;
  throw new AppError(
    "conflict",
    "A space needs an admin: make another member admin first, or delete the space.",
  );
}

/**
 * The spaces that have no other member than a person.
 * @throws AppError `conflict` if the person is the only admin of a space that has others
 */
export async function spacesOfOne(
  tx: Orm,
  { spaces, spaceMembers }: AccountTables,
  accountId: string,
): Promise<string[]> {
  const own = await tx
    .select({ id: spaces.id, name: spaces.name })
    .from(spaces)
    .innerJoin(
      spaceMembers,
      and(
        eq(spaceMembers.spaceId, spaces.id),
        eq(spaceMembers.accountId, accountId),
        eq(spaceMembers.role, "admin"),
      ),
    );
  const alone: string[] = [];
  for (const { id, name } of own) {
    const isOther = and(eq(spaceMembers.spaceId, id), ne(spaceMembers.accountId, accountId));
    const others = await tx.select({ role: spaceMembers.role }).from(spaceMembers).where(isOther);
    if (others.length === 0) alone.push(id);
    else if (others.every(({ role }) => role !== "admin")) throw isLastAdmin(name);
  }
  return alone;
}

function isLastAdmin(name: string): AppError {
  return new AppError(
    "conflict",
    `This account is the only admin of the space ${name}: make another member admin first, or delete the space.`,
  );
}

/** The error for an account that is not in a space. */
export function unknownMember(): AppError {
  return new AppError("not_found", "No member of this space has this account.");
}
