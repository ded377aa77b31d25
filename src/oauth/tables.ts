import type { Dialect } from "../db/database.ts";
import { scopesColumn } from "../keys/scopes.ts";

export type OAuthTables = ReturnType<typeof createOAuthTables>;

/**
 * The database tables of the authorization server, created by `db/migrations.sql`. Codes, tokens and
 * secrets are stored as SHA-256 in hex.
 */
export function createOAuthTables(dialect: Dialect) {
  const { table, text, json, boolean, timestamp } = dialect;
  const scopes = () => scopesColumn(dialect, "scopes");

  /** Registered clients (RFC 7591). */
  const oauthClients = table("oauth_clients", {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    redirectUris: json<readonly string[]>("redirect_uris").notNull(),
    /** Null for a public client. */
    secretHash: text("secret_hash"),
    createdAt: timestamp("created_at").notNull(),
    /** When it last received tokens for a code. */
    usedAt: timestamp("used_at"),
    /** When a person was last asked for consent to it. */
    askedAt: timestamp("asked_at"),
  });

  /** A person's permission for a client, which all its tokens belong to. */
  const oauthGrants = table("oauth_grants", {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    redirectHost: text("redirect_host").notNull(),
    scopes: scopes().notNull(),
    /** The resource of its tokens (RFC 8707); for a bound grant in bound form. */
    resource: text("resource").notNull(),
    createdAt: timestamp("created_at").notNull(),
    /** To the minute. */
    lastUsedAt: timestamp("last_used_at"),
    /** When its last code or token expires, and it is removed with all of them. */
    expiresAt: timestamp("expires_at").notNull(),
    revokedAt: timestamp("revoked_at"),
    /** Whether the client's metadata document required a signature when it was last read. */
    mustSign: boolean("must_sign").notNull().default(false),
    /** What it is bound to; see `toBound`. */
    project: text("project"),
    projectOnly: boolean("project_only").notNull().default(false),
    /** While it is paused, the requests of its tokens are refused. Tokens can still be renewed. */
    pausedAt: timestamp("paused_at"),
    /** The only space that it reaches; null for a grant of the person. */
    spaceId: text("space_id"),
  });

  /** Authorization codes. Used ones are kept as long as their grant. */
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
    /** The hash of the next refresh token. */
    successor: text("successor"),
    /** When it was used again within its grace. That answer had no refresh token. */
    repeatedAt: timestamp("repeated_at"),
  });

  return { oauthClients, oauthGrants, oauthCodes, oauthTokens };
}
