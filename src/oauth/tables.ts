import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { scopesColumn } from "../keys/scopes-column.ts";

// All tables of this file are made by `db/migrations.ts`. Codes, tokens and secrets are kept as
// their SHA-256 in hex.

/** Clients that have registered themselves (RFC 7591). */
export const oauthClients = sqliteTable("oauth_clients", {
  id: text().primaryKey(),
  name: text().notNull(),
  redirectUris: text("redirect_uris", { mode: "json" }).$type<readonly string[]>().notNull(),
  /** Null for a public client. */
  secretHash: text("secret_hash"),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  /** When it last got tokens for a code. */
  usedAt: integer("used_at", { mode: "timestamp_ms" }),
  /** When a person was last asked for consent to it. */
  askedAt: integer("asked_at", { mode: "timestamp_ms" }),
});

/** What a person has allowed a client, once: the family of all tokens that came of it. */
export const oauthGrants = sqliteTable("oauth_grants", {
  id: text().primaryKey(),
  accountId: text("account_id").notNull(),
  clientId: text("client_id").notNull(),
  clientName: text("client_name").notNull(),
  redirectHost: text("redirect_host").notNull(),
  scopes: scopesColumn().notNull(),
  /** What its tokens are for (RFC 8707). */
  resource: text().notNull(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  /** To the minute. */
  lastUsedAt: integer("last_used_at", { mode: "timestamp_ms" }),
  /** When nothing that came of it holds any more, and it is removed with all of it. */
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
  revokedAt: integer("revoked_at", { mode: "timestamp_ms" }),
  /** Whether the client's metadata document, when it was last read, wanted it to sign. */
  mustSign: integer("must_sign", { mode: "boolean" }).notNull().default(false),
});

/** Authorization codes; used ones too, as long as their grant is there. */
export const oauthCodes = sqliteTable("oauth_codes", {
  hash: text().primaryKey(),
  grantId: text("grant_id").notNull(),
  redirectUri: text("redirect_uri").notNull(),
  /** PKCE, S256. */
  challenge: text().notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
  usedAt: integer("used_at", { mode: "timestamp_ms" }),
});

export const oauthTokens = sqliteTable("oauth_tokens", {
  hash: text().primaryKey(),
  grantId: text("grant_id").notNull(),
  kind: text({ enum: ["access", "refresh"] }).notNull(),
  scopes: scopesColumn().notNull(),
  expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
  /** When a refresh token was exchanged for the next one. */
  usedAt: integer("used_at", { mode: "timestamp_ms" }),
  /** The hash of that next one. */
  successor: text(),
  /** When it was used again within its grace: whoever did so was not given the next one. */
  repeatedAt: integer("repeated_at", { mode: "timestamp_ms" }),
});
