import type { Dialect } from "../db/dialect.ts";
import { scopesColumn } from "../keys/scopes-column.ts";

export type OAuthTables = ReturnType<typeof createOAuthTables>;

/**
 * The tables of the authorization server, in the words of a database. They are made by
 * `db/migrations.ts`. Codes, tokens and secrets are kept as their SHA-256 in hex.
 */
export function createOAuthTables(dialect: Dialect) {
  const { table, text, json, boolean, timestamp } = dialect;
  const scopes = () => scopesColumn(dialect, "scopes");

  /** Clients that have registered themselves (RFC 7591). */
  const oauthClients = table("oauth_clients", {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    redirectUris: json<readonly string[]>("redirect_uris").notNull(),
    /** Null for a public client. */
    secretHash: text("secret_hash"),
    createdAt: timestamp("created_at").notNull(),
    /** When it last got tokens for a code. */
    usedAt: timestamp("used_at"),
    /** When a person was last asked for consent to it. */
    askedAt: timestamp("asked_at"),
  });

  /** What a person has allowed a client, once: the family of all tokens that came of it. */
  const oauthGrants = table("oauth_grants", {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    redirectHost: text("redirect_host").notNull(),
    scopes: scopes().notNull(),
    /** What its tokens are for (RFC 8707); of a bound grant in bound form. */
    resource: text("resource").notNull(),
    createdAt: timestamp("created_at").notNull(),
    /** To the minute. */
    lastUsedAt: timestamp("last_used_at"),
    /** When nothing that came of it holds any more, and it is removed with all of it. */
    expiresAt: timestamp("expires_at").notNull(),
    revokedAt: timestamp("revoked_at"),
    /** Whether the client's metadata document, when it was last read, wanted it to sign. */
    mustSign: boolean("must_sign").notNull().default(false),
    /** What it is bound to; see `toBound`. */
    project: text("project"),
    projectOnly: boolean("project_only").notNull().default(false),
  });

  /** Authorization codes; used ones too, as long as their grant is there. */
  const oauthCodes = table("oauth_codes", {
    hash: text("hash").primaryKey(),
    grantId: text("grant_id").notNull(),
    redirectUri: text("redirect_uri").notNull(),
    /** PKCE, S256. */
    challenge: text("challenge").notNull(),
    expiresAt: timestamp("expires_at").notNull(),
    usedAt: timestamp("used_at"),
  });

  const oauthTokens = table("oauth_tokens", {
    hash: text("hash").primaryKey(),
    grantId: text("grant_id").notNull(),
    kind: text("kind").$type<"access" | "refresh">().notNull(),
    scopes: scopes().notNull(),
    expiresAt: timestamp("expires_at").notNull(),
    /** When a refresh token was exchanged for the next one. */
    usedAt: timestamp("used_at"),
    /** The hash of that next one. */
    successor: text("successor"),
    /** When it was used again within its grace: whoever did so was not given the next one. */
    repeatedAt: timestamp("repeated_at"),
  });

  return { oauthClients, oauthGrants, oauthCodes, oauthTokens };
}
