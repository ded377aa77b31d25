import { and, eq, isNotNull, isNull, ne, not } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { AppError } from "../errors.ts";
import type { Account, NewAccount } from "./accounts.ts";
import { LOCAL_ADDRESS } from "./email.ts";
import { insertAccount, prepareAccount } from "./new-account.ts";
import { ACCOUNT, accounts } from "./tables.ts";
import { unknownAccount } from "./unknown-account.ts";

const IS_OWNER = eq(accounts.role, "owner");

/** The owner that a local agent made and that nobody has named. The role can't be claimed, the address was. */
const IS_UNNAMED = and(IS_OWNER, eq(accounts.email, LOCAL_ADDRESS), isNull(accounts.passwordHash));

const AT_ONCE = { behavior: "immediate" } as const;

/** Who owns the server: the part of the accounts' store that makes, names and changes the one owner. */
export function createOwnership({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;

  const findOwner = (): Account | null =>
    orm.select(ACCOUNT).from(accounts).where(IS_OWNER).get() ?? null;

  const hasAny = (condition?: ReturnType<typeof and>): boolean =>
    orm.select({ id: accounts.id }).from(accounts).where(condition).limit(1).get() !== undefined;

  /** Gives the unnamed owner an address and a password; null where there is none. */
  const name = ({ email, passwordHash }: Awaited<ReturnType<typeof prepareAccount>>) =>
    orm.update(accounts).set({ email, passwordHash }).where(IS_UNNAMED).returning(ACCOUNT).get() ??
    null;

  return {
    /** The account that administers the server; null on an empty one. */
    findOwner,

    /** Whether there is an account other than the one that a local agent made. */
    isSetUp: (): boolean => hasAny(not(IS_UNNAMED ?? IS_OWNER)),

    /**
     * Makes the owner of an empty server, for local agents: without a password, to be named later.
     * @throws AppError `conflict` on a server that has accounts and no owner
     */
    addLocalOwner: (): Account =>
      orm.transaction(() => {
        const owner = findOwner();
        if (owner) return owner;
        if (hasAny()) {
          throw new AppError(
            "conflict",
            "This server has accounts and no owner: ctxd user owner EMAIL makes one of them the owner.",
          );
        }
        const now = clock();
        return insertAccount(db, {
          id: createId("acc", now),
          email: LOCAL_ADDRESS,
          passwordHash: null,
          role: "owner",
          createdAt: new Date(now),
        });
      }, AT_ONCE),

    /**
     * Makes the owner of a server that has none, who takes over what local agents have saved.
     * @throws AppError `conflict` when the server has an account already, `validation_failed` for a
     * bad address or password
     */
    async setUp(wanted: NewAccount): Promise<Account> {
      const row = await prepareAccount(wanted, clock());
      return orm.transaction(() => {
        if (hasAny(not(IS_UNNAMED ?? IS_OWNER))) {
          throw new AppError("conflict", "This server has an owner already: sign in instead.");
        }
        return name(row) ?? insertAccount(db, { ...row, role: "owner" });
      }, AT_ONCE);
    },

    /**
     * Gives the owner without a password, whose account a local agent made, an address and a
     * password. For who is at the machine alone: such an owner may have memories.
     * @returns null when there is no such owner
     * @throws AppError as `setUp`
     */
    nameLocalOwner: async (wanted: NewAccount): Promise<Account | null> =>
      name(await prepareAccount(wanted, clock())),

    /**
     * Makes an account the owner, and who was it a member.
     * @returns who was it; null for nobody
     * @throws AppError `not_found` for an unknown account, `conflict` for a disabled one
     */
    handOver: (id: string): Account | null =>
      orm.transaction((tx) => {
        const isShut = and(eq(accounts.id, id), isNotNull(accounts.disabledAt));
        if (hasAny(isShut)) {
          throw new AppError("conflict", "This account is disabled: enable it first.");
        }
        const former = findOwner();
        tx.update(accounts).set({ role: "member" }).where(IS_OWNER).run();
        const isThis = eq(accounts.id, id);
        const next = tx.update(accounts).set({ role: "owner" }).where(isThis);
        if (next.returning({ id: accounts.id }).get()) return former;
        throw unknownAccount();
      }, AT_ONCE),

    /** @throws AppError `conflict` when an account is the owner's and others have accounts */
    checkRemovable(id: string): void {
      if (findOwner()?.id !== id || !hasAny(ne(accounts.id, id))) return;
      throw new AppError(
        "conflict",
        "The owner's account can't be removed while others have accounts: hand the server over first, by ctxd user owner EMAIL.",
      );
    },
  };
}
