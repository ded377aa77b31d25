import { openUnmigrated } from "../db/sqlite-files.ts";

/**
 * What a restore does with each table of the database. What gave access for a while, or once, ends:
 * it may have been ended, used or stolen since the backup was made. What a person holds for good
 * (passwords, passkeys, API keys) is as it was then. A new table has to be entered here.
 */
export const ON_RESTORE: Readonly<Record<string, "ends" | "stays">> = {
  accounts: "stays",
  activity_days: "stays",
  activity_events: "stays",
  activity_settings: "stays",
  api_keys: "stays",
  checkpoints: "stays",
  heads: "stays",
  idempotency_keys: "stays",
  identities: "stays",
  invitations: "ends",
  journal: "stays",
  oauth_clients: "stays",
  oauth_codes: "ends",
  oauth_grants: "stays",
  oauth_tokens: "ends",
  one_time_codes: "stays",
  passkey_challenges: "ends",
  passkeys: "stays",
  pending_sign_ins: "ends",
  quotas: "stays",
  recovery_codes: "stays",
  removed_accounts: "stays",
  security_events: "stays",
  server_secrets: "stays",
  sessions: "ends",
  tables: "stays",
  // Who restores wants back what was there: nothing goes on to be removed from it.
  waiting_changes: "ends",
};

/** How long a revoked grant stays in the list, in milliseconds. */
const REVOKED_LIFETIME = 30 * 24 * 3_600_000;

/** How much of what gave access a restore has ended. */
export interface EndedAccess {
  readonly sessions: number;
  /** Connections of apps that had tokens. */
  readonly apps: number;
  readonly invitations: number;
  /** API keys that have been revoked, or that still hold. */
  readonly keys: number;
}

/**
 * Ends what gave access to a server in the copy of its database at `path`, which nobody else has open.
 * @param revokeKeys whether API keys and what was allowed to apps end too
 * @param now milliseconds since 1970
 */
export function endAccess(
  path: string,
  { revokeKeys, now }: { revokeKeys: boolean; now: number },
): EndedAccess {
  const sqlite = openUnmigrated(path);
  // Nothing of a log beside the file is to be moved with it.
  sqlite.run("PRAGMA journal_mode = DELETE");
  const count = (statement: string): number =>
    sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${statement}`).get()?.n ?? 0;
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  // A backup of an older program lacks the tables that came later.
  const has = (table: string): boolean => known.get(table) !== null;
  const change = sqlite.transaction(() => {
    const ended = {
      sessions: count("sessions"),
      apps: count("(SELECT DISTINCT grant_id FROM oauth_tokens)"),
      invitations: has("invitations") ? count("invitations") : 0,
      keys: count(
        `api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`,
      ),
    };
    for (const [table, fate] of Object.entries(ON_RESTORE)) {
      if (fate === "ends" && has(table)) sqlite.run(`DELETE FROM ${table}`);
    }
    if (revokeKeys) {
      sqlite.run("UPDATE api_keys SET revoked_at = ? WHERE revoked_at IS NULL", [now]);
      sqlite.run(
        "UPDATE oauth_grants SET revoked_at = ?, expires_at = ? WHERE revoked_at IS NULL",
        [now, now + REVOKED_LIFETIME],
      );
    }
    return ended;
  });
  try {
    return change.immediate();
  } finally {
    known.finalize();
    sqlite.close();
  }
}
