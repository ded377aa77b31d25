import { and, asc, count, eq, isNull, sql } from "drizzle-orm";
import { returnedRow, type StoreParts } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { type Account, unknownAccount } from "./account.ts";
import { parseProjects, parseSpaceName, type Space, spaceAddress, unknownSpace } from "./space.ts";
import { type Actor, checkRoom, createAsAdmin, createMembers } from "./space-members.ts";
import { createAccountTables } from "./tables.ts";

export type Spaces = ReturnType<typeof createSpaces>;

/** The store of spaces and their members. */
export function createSpaces({ db, clock }: StoreParts) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, account, removedAccounts, spaces, spaceMembers } = tables;
  const { id, name, projects, disabledAt } = spaces;
  const asAdmin = createAsAdmin(db);

  // One statement, because each request waits for it. A disabled space is as if it were not there.
  const admitted = orm
    .select({ ...account, spaceId: id, name, projects, memberRole: spaceMembers.role })
    .from(accounts)
    .leftJoin(spaceMembers, eq(spaceMembers.accountId, accounts.id))
    .leftJoin(spaces, and(eq(id, spaceMembers.spaceId), isNull(disabledAt)))
    .where(and(eq(accounts.id, sql.placeholder("id")), isNull(accounts.disabledAt)))
    .orderBy(asc(spaceMembers.joinedAt), asc(spaceMembers.spaceId))
    .prepare();

  return {
    /** An enabled account with the spaces that its person may open, the one joined first first; null for others. */
    async admit(accountId: string): Promise<(Account & { spaces: Space[] }) | null> {
      const rows = await admitted.execute({ id: accountId });
      const [first] = rows;
      if (first === undefined) return null;
      const { spaceId: _, name: __, projects: ___, memberRole: ____, ...person } = first;
      const opened = rows.flatMap(({ spaceId, name, projects, memberRole: role }) =>
        spaceId && name !== null && projects && role ? [{ id: spaceId, name, role, projects }] : [],
      );
      return { ...person, spaces: opened };
    },

    /** All spaces with the number of their members, for who administers the server. */
    list: async () =>
      await orm
        .select({ id, name, projects, disabledAt, members: count(spaceMembers.accountId) })
        .from(spaces)
        .leftJoin(spaceMembers, eq(spaceMembers.spaceId, id))
        .groupBy(id, name, projects, disabledAt)
        .orderBy(asc(id)),

    ...createMembers({ db }),

    /** Makes a space, whose first admin a person is. @throws AppError as `parseSpaceName` */
    async create(accountId: string, typed: string): Promise<Space> {
      const name = parseSpaceName(typed);
      const now = clock();
      const joinedAt = new Date(now);
      const spaceId = createId("acc", now);
      await db.transaction(async (tx) => {
        const person = tx.select({ id: accounts.id }).from(accounts);
        if ((await person.where(eq(accounts.id, accountId))).length === 0) throw unknownAccount();
        await checkRoom(tx, tables, { accountId });
        const row = { id: spaceId, email: spaceAddress(spaceId), role: "member" as const };
        await tx.insert(accounts).values({ ...row, createdAt: joinedAt });
        await tx.insert(spaces).values({ id: spaceId, name, projects: [] });
        await tx.insert(spaceMembers).values({ spaceId, accountId, role: "admin", joinedAt });
      });
      return { id: spaceId, name, role: "admin", projects: [] };
    },

    /**
     * Changes the name of a space, and which projects live in it. What was saved before stays where it is.
     * @throws AppError `not_found`, `forbidden` for who is no admin, `validation_failed`
     */
    async change(
      actor: Actor,
      spaceId: string,
      { name, projects }: { name?: string; projects?: readonly string[] },
    ): Promise<Pick<Space, "name" | "projects">> {
      const changes = {
        ...(name !== undefined && { name: parseSpaceName(name) }),
        ...(projects && { projects: parseProjects(projects) }),
      };
      return await asAdmin(actor, spaceId, async (tx) => {
        const isThis = eq(id, spaceId);
        if (Object.keys(changes).length > 0) await tx.update(spaces).set(changes).where(isThis);
        const changed = tx.select({ name: spaces.name, projects: spaces.projects }).from(spaces);
        return returnedRow(await changed.where(isThis));
      });
    },

    /** Closes a space until it is opened again: nobody reads or writes it. @throws AppError `not_found` */
    async setDisabled(spaceId: string, isDisabled: boolean): Promise<void> {
      const changes = { disabledAt: isDisabled ? new Date(clock()) : null };
      const changed = await orm
        .update(spaces)
        .set(changes)
        .where(eq(id, spaceId))
        .returning({ id });
      if (changed.length === 0) throw unknownSpace();
    },

    /** Removes a space with its memories, for good. @throws AppError `forbidden` for who is no admin */
    async remove(actor: Actor, spaceId: string): Promise<void> {
      await asAdmin(actor, spaceId, async (tx) => {
        await tx.delete(accounts).where(eq(accounts.id, spaceId));
        await tx.insert(removedAccounts).values({ id: spaceId });
      });
      await db.expunge();
    },
  };
}
