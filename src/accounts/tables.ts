import type { Dialect } from "../db/dialect.ts";

export type AccountTables = ReturnType<typeof createAccountTables>;

/** The tables of accounts, made by `db/migrations.ts`. */
export function createAccountTables({ table, text, integer, timestamp }: Dialect) {
  /** Who may own memories. */
  const accounts = table("accounts", {
    id: text("id").primaryKey(),
    /** Lower case. */
    email: text("email").notNull().unique(),
    /** argon2id in PHC format; null for an account that never signs in with a password. */
    passwordHash: text("password_hash"),
    /** The owner administers the server; it is the first account. */
    role: text("role").$type<"owner" | "member">().notNull(),
    createdAt: timestamp("created_at").notNull(),
    /** Since when nobody can use it; null for an account that can be used. */
    disabledAt: timestamp("disabled_at"),
  });

  /** Accounts that are gone and whose memories are still to be removed, by the server that holds them. */
  const removedAccounts = table("removed_accounts", {
    id: text("id").primaryKey(),
  });

  /** Links by which somebody may make an account, as long as they are neither used nor expired. */
  const invitations = table("invitations", {
    id: text("id").primaryKey(),
    /** SHA-256 of the link's secret, in hex. */
    hash: text("hash").notNull().unique(),
    /** The address that the account gets; null where its person chooses. */
    email: text("email"),
    createdAt: timestamp("created_at").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
  });

  /** What accounts may keep, of those for which that is limited. */
  const quotas = table("quotas", {
    accountId: text("account_id").primaryKey(),
    /** How many memories; null for any number. */
    memories: integer("memories"),
    /** Bytes of all their text; null for any. */
    bytes: integer("bytes"),
  });

  const { id, email, role, createdAt, disabledAt } = accounts;
  return {
    accounts,
    /** The columns of an account that are no secret. */
    account: { id, email, role, createdAt, disabledAt },
    removedAccounts,
    invitations,
    quotas,
  };
}
