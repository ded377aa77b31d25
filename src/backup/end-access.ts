import { openUnmigrated } from "../db/sqlite-files.ts";

/**
 * What a restore does with each database table. Temporary and single-use access ends: it may have ended,
 * been used or been stolen since the backup. Permanent access (passwords, passkeys, API keys) is restored.
 * Enter new database tables here.
 */
export const ON_RESTORE: Readonly<Record<string, "ends" | "stays">> = {
  accounts: "stays",
  activity_days: "stays",
  activity_events: "stays",
  activity_settings: "stays",
  api_keys: "stays",
  checkpoints: "stays",
  comparisons: "stays",
  heads: "stays",
  idempotency_keys: "stays",
  identities: "stays",
  invitations: "ends",
  journal: "stays",
  likenesses: "stays",
  memory_uses: "stays",
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
  space_invitations: "ends",
  space_members: "stays",
  spaces: "stays",
  tables: "stays",
  uncompared: "stays",
  use_settings: "stays",
  // Otherwise a planned removal would delete restored data.
  waiting_changes: "ends",
};

/** Milliseconds that a revoked grant stays in the list. */
const REVOKED_LIFETIME_MS = 30 * 24 * 3_600_000;

/** Counts of the access that a restore ended. */
export interface EndedAccess {
  readonly sessions: number;
  /** Connected apps that had tokens. */
  readonly apps: number;
  readonly invitations: number;
  /** Valid API keys in the backup, which are revoked if `revokeKeys` is set. */
  readonly keys: number;
}

/**
 * Ends access in the copy of a database at `path`, which no other process may have open.
 * @param revokeKeys whether to revoke API keys and the grants of apps too
 * @param now milliseconds since 1970
 */
export function endAccess(
  path: string,
  { revokeKeys, now }: { revokeKeys: boolean; now: number },
): EndedAccess {
  using sqlite = openUnmigrated(path);
  // Without a write-ahead log, the database is one file that can be moved.
  sqlite.run("PRAGMA journal_mode = DELETE");
  const count = (statement: string): number =>
    sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${statement}`).get()?.n ?? 0;
  const known = sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  // A backup of an older version lacks newer tables.
  const has = (table: string): boolean => known.get(table) !== null;
  const change = sqlite.transaction(() => {
    const ended = {
      sessions: count("sessions"),
      apps: count("(SELECT DISTINCT grant_id FROM oauth_tokens)"),
      invitations: ["invitations", "space_invitations"]
        .filter(has)
        .reduce((all, table) => all + count(table), 0),
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
        [now, now + REVOKED_LIFETIME_MS],
      );
    }
    return ended;
  });
  return change.immediate();
}
