import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { formatScopes, SCOPES } from "../../src/keys/scopes.ts";
import { formToken } from "../../src/pages/cookies.ts";
import { createSessions } from "../../src/sign-in/sessions/sessions.ts";

/** How requests act for an account. */
export interface Access {
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  readonly session: string;
  readonly token: string;
}

/** The number in the id of one of the rows that `addAccess` writes. */
export const rowId = (n: number) => n.toString(16).padStart(32, "0");
const long = (name: string, length: number) => `${name}-`.padEnd(length, "x");

export async function accessOf(db: SqliteDatabase, accountId: string): Promise<Access> {
  const stores = { db, clock: Date.now };
  const made = await createKeys(stores).create(accountId, {
    name: "test",
    scopes: SCOPES,
    expiresAt: null,
  });
  const session = await createSessions(stores).begin(accountId);
  return { accountId, key: made.key, keyId: made.record.id, session, token: formToken(session) };
}

/** Rows of the database that an account or the people of a server have many of. */
const ROWS = (accountId: string) => ({
  api_keys: {
    ...{
      id: "key_{}",
      account_id: accountId,
      hash: "{}",
      prefix: "ctx_abcd",
      name: long("key", 60),
    },
    ...{ scopes: formatScopes(["memories:read"]), created_at: 1, project: null, project_only: 0 },
  },
  sessions: {
    ...{ hash: "{}", account_id: accountId, created_at: 1, expires_at: 9e12 },
    browser: long("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0 ", 300),
  },
  oauth_grants: {
    ...{ id: "grant_{}", account_id: accountId, client_id: "{}", client_name: long("app", 80) },
    ...{
      redirect_host: "localhost",
      scopes: formatScopes(["memories:read"]),
      resource: "http://localhost",
    },
    ...{ created_at: 1, expires_at: 9e12, must_sign: 0, project_only: 0 },
  },
  security_events: {
    ...{ at: Date.now(), event: "signed_in", account_id: accountId, via: "session" },
    ...{ address: "203.0.113.7", agent: long("agent", 200), times: 1 },
  },
  activity_events: {
    ...{ account_id: accountId, at: Date.now(), kind: "searched", source_id: "{}", source: "key" },
    ...{ agent: long("agent", 80), times: 1, in_vain: 0, memories: 1, query: long("q", 300) },
  },
  activity_days: {
    ...{ account_id: accountId, day: new Date().toISOString().slice(0, 10), kind: "searched" },
    ...{ source_id: "{}", agent: "agent", source: "key", times: 1, in_vain: 0, memories: 1 },
    last_at: Date.now(),
  },
  accounts: { id: "acc_{}", email: "{}@example.com", role: "member", created_at: 1 },
  invitations: { id: "inv_{}", hash: "{}", created_at: 1, expires_at: 9e12 },
});

/** Adds rows that differ in their ids, written as `{}`. */
export function addAccess({ sqlite }: SqliteDatabase, accountId: string, count: number): void {
  for (const [table, row] of Object.entries(ROWS(accountId))) {
    const columns = Object.keys(row);
    const values = columns.map((name) => `replace($${name}, '{}', printf('%032x', at))`);
    const kinds = Object.entries(row).map(([name, value], at) =>
      typeof value === "string" ? values[at] : `$${name}`,
    );
    sqlite
      .query(
        `WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${count})
         INSERT INTO ${table} (${columns}) SELECT ${kinds} FROM n`,
      )
      .run(row);
  }
}
