import { type Dirent, existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { hashOf } from "../system/file-digest.ts";
import { type Loop, startLoop } from "../timing/loop.ts";
import { explainFailure } from "./backup-error.ts";
import { SUMS_FILE } from "./container.ts";
import type { Progress } from "./create-backup.ts";
import { MANIFEST_FILE, type Manifest } from "./manifest.ts";
import { verifyWritten } from "./open-backup.ts";
import type { ScheduleSettings } from "./schedule-settings.ts";

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
 * Creates backups while the program runs, when they are due and when somebody asks for one. Each has its own folder. A
 * missed one is created immediately. Each is verified after it was written, and only then old ones are removed. A
 * failure is logged, and a backup that is due is tried again later.
 * @param settings the current ones; null for no backups
 * @param create creates a backup in a folder
 * @param origin identifies this server's data in the names of backups, because several servers may share the
 *   folder; null while the data has no owner
 * @param clock milliseconds since 1970
 */
export function scheduleBackups({
  settings,
  create,
  origin,
  clock,
  log,
  metrics,
}: {
  settings: () => ScheduleSettings | null;
  create: (
    folder: string,
    how: Pick<ScheduleSettings, "recipients"> & { signal: AbortSignal; onProgress: Progress },
  ) => Promise<Manifest>;
  origin: () => Promise<string | null>;
  clock: () => number;
  log: Log;
  metrics: Metrics;
}) {
  const runs = metrics.counter("ctxd_backups_total", "Backups of the server.", ["result"]);
  metrics.gauge(
    "ctxd_last_backup_timestamp_seconds",
    "Start of the newest complete backup; 0 when there is none.",
    () => (newest ?? 0) / 1_000,
  );
  const ending = new AbortController();
  const { signal } = ending;
  let newest: number | null = null;
  let failure: { at: number; message: string } | null = null;
  let running: { at: number; done: Parameters<Progress>[0] | null } | null = null;
  let hasChecked = false;
  let loop: Loop | null = null;
  let turn: Promise<void> = Promise.resolve();
  let asked: Promise<void> | null = null;

  const ownBackups = async (): Promise<IsIncluded> => {
    const own = await origin();
    // Backups without an origin were created before there was an owner.
    return (other) => other === null || other === own;
  };

  const isDue = (): boolean => {
    const every = settings()?.every ?? null;
    if (every === null) return false;
    const now = clock();
    // A clock that was set back must not delay the next backup beyond the interval.
    const since = (moment: number) => (moment > now ? every : now - moment);
    if (failure !== null && since(failure.at) < Math.min(RETRY_MS, every)) return false;
    return newest === null || since(newest) >= every;
  };

  const createOne = async ({ folder: series, keep, recipients }: ScheduleSettings) => {
    const job = { at: clock(), done: null as Parameters<Progress>[0] | null };
    running = job;
    const own = await origin();
    // The names of folders have no fractions of a second.
    if (existsSync(folderOf(series, job.at, own))) await Bun.sleep(1_000);
    const at = clock();
    const folder = folderOf(series, at, own);
    const isOurs = await ownBackups();
    // Creates no parent folders: a missing one means that the disk is not mounted.
    if (!existsSync(series)) await explainFailure(series, "written", () => mkdir(series, 0o700));
    // An unfinished backup of an earlier crash may take the space that this one needs.
    for (const unfinished of (await listSeries(series, at, isOurs)).unfinished)
      await removeBackup(unfinished);
    const onProgress: Progress = (done) => {
      job.done = done;
    };
    const manifest = await create(folder, { recipients, signal, onProgress });
    try {
      await verifyWritten(folder, { signal });
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

  const checkNow = async (isWanted: () => boolean) => {
    const current = settings();
    try {
      if (current === null) return;
      // A folder that can't be read has no backups, for example when its disk is not mounted.
      const isOurs = await ownBackups();
      const known = await listSeries(current.folder, clock(), isOurs).catch(() => null);
      newest = known?.complete.at(-1)?.at ?? null;
      if (!isWanted()) return;
      await createOne(current);
      failure = null;
    } catch (error) {
      if (signal.aborted) return;
      failure = { at: clock(), message: messageOf(error) };
      runs.inc({ result: "failed" });
      log.error("backup_failed", { cause: failure.message });
    } finally {
      running = null;
      hasChecked = true;
    }
  };

  const inTurn = (isWanted: () => boolean): Promise<void> => {
    turn = turn.then(() => (signal.aborted ? undefined : checkNow(isWanted)));
    return turn;
  };

  return {
    start() {
      loop = startLoop(async () => {
        await inTurn(isDue);
        return CHECK_INTERVAL_MS;
      });
    },
    /** Creates a backup if one is due. Never rejects. */
    check: () => inTurn(isDue),
    /** Creates a backup, unless one is being created. Resolves when it has ended, and never rejects. */
    createNow(): Promise<void> {
      if (running) return turn;
      asked ??= inTurn(() => true).finally(() => {
        asked = null;
      });
      return asked;
    },
    /** Forgets what was true of other settings. */
    reset(): void {
      hasChecked = false;
      failure = null;
    },
    /** The backup that is being created, and why the last one failed; null if there is none. */
    state: () => ({ running, failure }),
    settings,
    /** The complete backups of this server, newest first. @throws BackupError when the folder can't be read */
    async list() {
      const current = settings();
      if (current === null) return [];
      return (await listSeries(current.folder, clock(), await ownBackups())).complete.reverse();
    },
    /** Whether the last backup failed, or the newest is older than it should be. */
    isLate: () => failure !== null || (hasChecked && running === null && isDue()),
    /** Stops the schedule, and aborts and removes a running backup. */
    async stop() {
      ending.abort();
      await loop?.stop();
      await turn;
    },
  };
}
