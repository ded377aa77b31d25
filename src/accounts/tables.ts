import type { Dialect } from "../db/database.ts";
import type { Role } from "./space.ts";

export type AccountTables = ReturnType<typeof createAccountTables>;

/** The database tables of accounts, created by `db/migrations.sql`. */
export function createAccountTables(dialect: Dialect) {
  const { table, text, integer, timestamp, json, primaryKey } = dialect;
  /** Accounts, which own memories. */
  const accounts = table("accounts", {
    id: text("id").primaryKey(),
    /** Lower case. */
    email: text("email").notNull().unique(),
    /** argon2id in PHC format; null for an account without a password. */
    passwordHash: text("password_hash"),
    /** The owner administers the server and is the first account. */
    role: text("role").$type<"owner" | "member">().notNull(),
    createdAt: timestamp("created_at").notNull(),
    /** When it was disabled; null for an enabled account. */
    disabledAt: timestamp("disabled_at"),
  });

  /** Removed accounts whose memories the server has not removed yet. */
  const removedAccounts = table("removed_accounts", {
    id: text("id").primaryKey(),
  });

  /** Invitations, until they are used or expire. */
  const invitations = table("invitations", {
    id: text("id").primaryKey(),
    /** SHA-256 of the link's secret, in hex. */
    hash: text("hash").notNull().unique(),
    /** The address of the new account; null if its person chooses one. */
    email: text("email"),
    createdAt: timestamp("created_at").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  const quotas = table("quotas", {
    accountId: text("account_id").primaryKey(),
    /** How many memories; null means unlimited. */
    memories: integer("memories"),
    /** Bytes of all texts; null means unlimited. */
    bytes: integer("bytes"),
  });

  /** Spaces. Each is an account without a person, of the same id. */
  const spaces = table("spaces", {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    /** What members save for these projects belongs to the space. */
    projects: json<readonly string[]>("projects").notNull(),
    disabledAt: timestamp("disabled_at"),
  });

  const spaceMembers = table(
    "space_members",
    {
      spaceId: text("space_id").notNull(),
      accountId: text("account_id").notNull(),
      role: text("role").$type<Role>().notNull(),
      joinedAt: timestamp("joined_at").notNull(),
    },
    ({ spaceId, accountId }) => [primaryKey({ columns: [spaceId, accountId] })],
  );

  /** Invitations into spaces, until they are used or expire. */
  const spaceInvitations = table("space_invitations", {
    id: text("id").primaryKey(),
    spaceId: text("space_id").notNull(),
    /** SHA-256 of the link's secret, in hex. */
    hash: text("hash").notNull().unique(),
    /** The only address whose account may join; null for anybody with the link. */
    email: text("email"),
    /** The account of the admin who invites; null for who administers the machine. */
    invitedBy: text("invited_by"),
    role: text("role").$type<Role>().notNull(),
    createdAt: timestamp("created_at").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  const { id, email, role, createdAt, disabledAt } = accounts;
  return {
    accounts,
    /** The columns of an account without its password. */
    account: { id, email, role, createdAt, disabledAt },
    removedAccounts,
    invitations,
    quotas,
    spaces,
    spaceMembers,
    spaceInvitations,
  };
}
