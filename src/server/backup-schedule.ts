import { version } from "../../package.json" with { type: "json" };
import type { Accounts } from "../accounts/accounts.ts";
import { createBackup } from "../backup/create-backup.ts";
import { originOf, type Schedule, scheduleBackups } from "../backup/schedule.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { loadLanceDb } from "../native/lancedb.ts";
import type { SecurityLog } from "../security-log/security-log.ts";

/** Creates the schedule of backups from the settings; null if they ask for none. */
export function createBackupSchedule(
  { dataDir, cacheDir, backups: settings, backupRecipients: recipients }: Config,
  {
    accounts,
    securityLog,
    log,
    metrics,
  }: { accounts: Accounts; securityLog: SecurityLog; log: Log; metrics: Metrics },
): Schedule | null {
  if (!settings) return null;
  const clock = Date.now;
  const lock = recipients.length > 0 ? { recipients } : null;
  const create = async (folder: string, signal: AbortSignal) => {
    const lancedb = await loadLanceDb(cacheDir);
    const manifest = await createBackup({ dataDir, folder, version, lancedb, clock, lock, signal });
    const subject = lock ? "encrypted" : null;
    securityLog.record("backup_created", { accountId: null, via: "server", subject });
    return manifest;
  };
  const origin = async () => {
    const owner = await accounts.findOwner();
    return owner && originOf(owner.id);
  };
  return scheduleBackups({ settings, create, origin, clock, log, metrics });
}
