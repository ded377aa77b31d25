import { version } from "../../package.json" with { type: "json" };
import type { Accounts } from "../accounts/accounts.ts";
import { createBackup } from "../backup/create-backup.ts";
import { originOf, scheduleBackups } from "../backup/schedule.ts";
import { readSchedule, type ScheduleSettings, writeSchedule } from "../backup/schedule-settings.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { loadLanceDb } from "../native/lancedb.ts";
import type { SecurityLog } from "../security-log/security-log.ts";

export type ServerBackups = Awaited<ReturnType<typeof createServerBackups>>;

/**
 * The backups of this server, as the environment or the owner wants them.
 * @throws BackupError when the file with the owner's choice is damaged
 */
export async function createServerBackups(
  config: Config,
  {
    accounts,
    securityLog,
    log,
    metrics,
  }: { accounts: Accounts; securityLog: SecurityLog; log: Log; metrics: Metrics },
) {
  const { dataDir, cacheDir } = config;
  const clock = Date.now;
  let settings = await readSchedule(config);
  const schedule = scheduleBackups({
    settings: () => settings,
    async create(folder, { recipients, ...how }) {
      const lock = recipients.length > 0 ? { recipients } : null;
      const lancedb = await loadLanceDb(cacheDir);
      const manifest = await createBackup({
        ...{ dataDir, folder, version, lancedb, clock, lock },
        ...how,
      });
      const subject = lock ? "encrypted" : null;
      securityLog.record("backup_created", { accountId: null, via: "server", subject });
      return manifest;
    },
    async origin() {
      const owner = await accounts.findOwner();
      return owner && originOf(owner.id);
    },
    clock,
    log,
    metrics,
  });

  return {
    ...schedule,

    /** Replaces the settings that the owner chose. @throws BackupError when they are refused */
    async change(wanted: ScheduleSettings | null): Promise<void> {
      await writeSchedule(dataDir, wanted);
      settings = await readSchedule(config);
      schedule.reset();
    },
  };
}
