import { type Dirent, existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { hashOf } from "../system/file-digest.ts";
import { type Loop, startLoop } from "../timing/loop.ts";
import { explainFailure } from "./backup-error.ts";
import { SUMS_FILE } from "./container.ts";
import { MANIFEST_FILE, type Manifest } from "./manifest.ts";
import { verifyWritten } from "./open-backup.ts";

/** The file that completes a backup: the first for an unencrypted one, the second for an encrypted one. */
const LAST_WRITTEN = [MANIFEST_FILE, SUMS_FILE] as const;

/** A backup of the schedule. */
interface ScheduledBackup {
  folder: string;
  /** Time of its start, in milliseconds since 1970. */
  at: number;
}

/** Whether a backup with an origin is one of this server's: several servers may share a folder. */
type IsIncluded = (origin: string | null) => boolean;

/** Identifies a server's data in the names of its backups. It is a hash of the owner, who does not change. */
export function originOf(ownerId: string): string {
  return hashOf(ownerId).slice(0, 8);
}

const NAME = /^ctxd-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z(?:-([0-9a-f]{8}))?$/;

/**
 * The folder of a backup by its start. The names sort by time and are valid on every file system.
 * @param origin see `originOf`; null for data without an owner
 */
export function folderOf(series: string, at: number, origin: string | null): string {
  const name = new Date(at).toISOString().replace(/\.\d+/, "").replaceAll(":", "-");
  return join(series, `ctxd-${name}${origin === null ? "" : `-${origin}`}`);
}

/**
 * Lists the complete backups in the folder of a schedule, oldest first, and the unfinished ones of crashes.
 * Folders with other names are ignored. A backup with a time in the future was created while the clock was
 * wrong, and counts as older than all others.
 * @throws BackupError when the folder can't be read
 */
export async function listSeries(
  series: string,
  now: number,
  isIncluded: IsIncluded = () => true,
): Promise<{ complete: ScheduledBackup[]; unfinished: string[] }> {
  const entries: Dirent[] = await explainFailure(series, "read", () =>
    readdir(series, { withFileTypes: true }),
  );
  const complete: ScheduledBackup[] = [];
  const unfinished: string[] = [];
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const [, day, hours, minutes, seconds, origin = null] = NAME.exec(name) ?? [];
    const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
    if (Number.isNaN(at) || !isIncluded(origin)) continue;
    const folder = join(series, name);
    const isComplete = LAST_WRITTEN.some((file) => existsSync(join(folder, file)));
    if (isComplete) complete.push({ folder, at });
    else unfinished.push(folder);
  }
  const byTime = complete.sort((a, b) => a.at - b.at);
  const isPast = ({ at }: ScheduledBackup) => at <= now;
  const [past, future] = [byTime.filter(isPast), byTime.filter((each) => !isPast(each))];
  return { complete: [...future, ...past], unfinished };
}

/** Removes a backup, complete or not. */
async function removeBackup(folder: string): Promise<void> {
  // Removed first, so that an interrupted removal leaves no seemingly complete backup.
  for (const file of LAST_WRITTEN) await rm(join(folder, file), { force: true });
  await rm(folder, { recursive: true, force: true });
}

/** Milliseconds between two checks whether a backup is due. */
const CHECK_INTERVAL_MS = 15_000;
/** Milliseconds before a failed backup is tried again, unless the next one is due earlier. */
const RETRY_MS = 10 * 60_000;

export type Schedule = ReturnType<typeof scheduleBackups>;

/**
 * Creates backups on a schedule while the program runs, each in its own folder. A missed one is created
 * immediately. Each is verified after it was written, and only then old ones are removed. A failure is
 * logged, and the backup is tried again later.
 * @param create creates a backup in a folder
 * @param origin identifies this server's data in the names of backups, because several servers may share the
 *   folder; null while the data has no owner
 * @param clock milliseconds since 1970
 */
export function scheduleBackups({
  settings: { folder: series, every, keep },
  create,
  origin,
  clock,
  log,
  metrics,
}: {
  settings: NonNullable<Config["backups"]>;
  create: (folder: string, signal: AbortSignal) => Promise<Manifest>;
  origin: () => Promise<string | null>;
  clock: () => number;
  log: Log;
  metrics: Metrics;
}) {
  const runs = metrics.counter("ctxd_backups_total", "Scheduled backups.", ["result"]);
  metrics.gauge(
    "ctxd_last_backup_timestamp_seconds",
    "Start of the newest complete backup; 0 when there is none.",
    () => (newest ?? 0) / 1_000,
  );
  const ending = new AbortController();
  let newest: number | null = null;
  let failedAt: number | null = null;
  let isRunning = false;
  let hasChecked = false;
  let loop: Loop | null = null;

  const ownBackups = async (): Promise<IsIncluded> => {
    const own = await origin();
    // Backups without an origin were created before there was an owner.
    return (other) => other === null || other === own;
  };

  const isDue = () => {
    const now = clock();
    // A clock that was set back must not delay the next backup beyond the interval.
    const since = (moment: number) => (moment > now ? every : now - moment);
    if (failedAt !== null && since(failedAt) < Math.min(RETRY_MS, every)) return false;
    return newest === null || since(newest) >= every;
  };

  const createOne = async () => {
    const at = clock();
    const folder = folderOf(series, at, await origin());
    const isOurs = await ownBackups();
    // Creates no parent folders: a missing one means that the disk is not mounted.
    if (!existsSync(series)) await explainFailure(series, "written", () => mkdir(series, 0o700));
    // An unfinished backup of an earlier crash may take the space that this one needs.
    for (const unfinished of (await listSeries(series, at, isOurs)).unfinished)
      await removeBackup(unfinished);
    const manifest = await create(folder, ending.signal);
    try {
      await verifyWritten(folder, { signal: ending.signal });
    } catch (error) {
      await removeBackup(folder);
      throw error;
    }
    newest = at;
    const { complete } = await listSeries(series, clock(), isOurs);
    for (const old of complete.slice(0, -keep)) await removeBackup(old.folder);
    runs.inc({ result: "ok" });
    log.info("backup_made", { folder, files: manifest.files.length, ms: clock() - at });
  };

  const check = async () => {
    isRunning = true;
    try {
      // A folder that can't be read has no backups, for example when its disk is not mounted.
      const isOurs = await ownBackups();
      const known = await listSeries(series, clock(), isOurs).catch(() => null);
      newest = known?.complete.at(-1)?.at ?? null;
      if (!isDue()) return;
      await createOne();
      failedAt = null;
    } catch (error) {
      if (ending.signal.aborted) return;
      failedAt = clock();
      runs.inc({ result: "failed" });
      log.error("backup_failed", { cause: messageOf(error) });
    } finally {
      isRunning = false;
      hasChecked = true;
    }
  };

  return {
    start() {
      loop = startLoop(async () => {
        await check();
        return CHECK_INTERVAL_MS;
      });
    },
    /** Creates a backup if one is due. */
    check,
    /** The complete backups of this server, newest first. @throws BackupError when the folder can't be read */
    list: async () => (await listSeries(series, clock(), await ownBackups())).complete.reverse(),
    /** Whether the last backup failed, or the newest is older than it should be. */
    isLate: () => failedAt !== null || (hasChecked && !isRunning && isDue()),
    /** Stops the schedule, and aborts and removes a running backup. */
    async stop() {
      ending.abort();
      await loop?.stop();
    },
  };
}
