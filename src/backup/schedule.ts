import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { explained } from "./backup-error.ts";
import type { Manifest } from "./manifest.ts";
import { folderOf, listSeries, pruneSeries, removeBackup, type Whose } from "./series.ts";
import { verifyWritten } from "./verify-files.ts";

/** How often it is looked whether a backup is due, in milliseconds. */
const TICK = 15_000;
/** A backup that failed is tried again after this long, or when the next one is due. */
const RETRY = 10 * 60_000;

export type Schedule = ReturnType<typeof scheduleBackups>;

/**
 * Makes backups on a schedule, each in a folder of its own, as long as the program runs. One that
 * was missed is made at once. Each is read again when it is made, and only then old ones go. A
 * failure is logged and tried again; it stops nothing.
 * @param create makes a backup in a folder
 * @param origin tells the backups of this data from those of another server's in the same folder;
 *   null as long as it has no owner
 * @param clock milliseconds since 1970
 */
export function scheduleBackups({
  settings: { folder: series, every, keep },
  create,
  origin,
  clock,
  log,
  metrics,
  tick = TICK,
}: {
  settings: NonNullable<Config["backups"]>;
  create: (folder: string, signal: AbortSignal) => Promise<Manifest>;
  origin: () => Promise<string | null>;
  clock: () => number;
  log: Log;
  metrics: Metrics;
  tick?: number;
}) {
  const runs = metrics.counter("ctxd_backups_total", "Scheduled backups.", ["result"]);
  metrics.gauge(
    "ctxd_last_backup_timestamp_seconds",
    "When the newest complete backup was begun; 0 when there is none.",
    () => (newest ?? 0) / 1_000,
  );
  const ending = new AbortController();
  let newest: number | null = null;
  let failedAt: number | null = null;
  let underWay: Promise<void> | null = null;
  let hasLooked = false;

  const ours = async (): Promise<Whose> => {
    const own = await origin();
    // Those that bear none were made before there was an owner.
    return (other) => other === null || other === own;
  };

  const isDue = () => {
    const now = clock();
    // A clock that was set back must not put the next one off for longer than always.
    const since = (moment: number) => (moment > now ? every : now - moment);
    if (failedAt !== null && since(failedAt) < Math.min(RETRY, every)) return false;
    return newest === null || since(newest) >= every;
  };

  const makeOne = async () => {
    const at = clock();
    const folder = folderOf(series, at, await origin());
    const isOurs = await ours();
    // Not the folders above: where a disk isn't mounted, there is nothing to back up to.
    if (!existsSync(series)) await explained(series, "written", () => mkdir(series, 0o700));
    // What a crash has left of another may take the space that this one needs.
    for (const left of (await listSeries(series, at, isOurs)).unfinished) await removeBackup(left);
    const manifest = await create(folder, ending.signal);
    try {
      await verifyWritten(folder, { signal: ending.signal });
    } catch (error) {
      await removeBackup(folder);
      throw error;
    }
    newest = at;
    await pruneSeries(series, keep, clock(), isOurs);
    runs.inc({ result: "ok" });
    log.info("backup_made", { folder, files: manifest.files.length, ms: clock() - at });
  };

  const look = async () => {
    try {
      // A folder that is missing now, of a disk that isn't mounted say, has no backups.
      const isOurs = await ours();
      const known = await listSeries(series, clock(), isOurs).catch(() => null);
      newest = known?.complete.at(-1)?.at ?? null;
      if (!isDue()) return;
      await makeOne();
      failedAt = null;
    } catch (error) {
      if (ending.signal.aborted) return;
      failedAt = clock();
      runs.inc({ result: "failed" });
      log.error("backup_failed", { cause: messageOf(error) });
    }
  };

  const check = (): Promise<void> => {
    underWay ??= look().finally(() => {
      underWay = null;
      hasLooked = true;
    });
    return underWay;
  };
  let timer: ReturnType<typeof setInterval> | undefined;

  return {
    /** From now on, backups are made. */
    start() {
      timer = setInterval(check, tick);
      timer.unref();
      void check();
    },
    /** Makes a backup when one is due, or waits for the one under way. */
    check,
    /** Whether the last backup failed, or none is as young as it should be. */
    isLate: () => failedAt !== null || (hasLooked && underWay === null && isDue()),
    /** Breaks off the backup under way, of which nothing stays. */
    async stop() {
      clearInterval(timer);
      ending.abort();
      await underWay;
    },
  };
}
