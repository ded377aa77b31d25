import { type Dirent, existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { explained } from "./backup-error.ts";
import { SUMS } from "./container.ts";
import { MANIFEST } from "./manifest.ts";

/** The file that completes a backup: the first for an unencrypted one, the second for an encrypted one. */
const LAST_WRITTEN = [MANIFEST, SUMS] as const;

/** A backup of the schedule. */
interface ScheduledBackup {
  folder: string;
  /** Time of its start, in milliseconds since 1970. */
  at: number;
}

/** Whether a backup with an origin is one of this server's: several servers may share a folder. */
export type Whose = (origin: string | null) => boolean;

/** Identifies a server's data in the names of its backups. It is a hash of the owner, who does not change. */
export function originOf(ownerId: string): string {
  return new Bun.CryptoHasher("sha256").update(ownerId).digest("hex").slice(0, 8);
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
  isIncluded: Whose = () => true,
): Promise<{ complete: ScheduledBackup[]; unfinished: string[] }> {
  const entries: Dirent[] = await explained(series, "read", () =>
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

/** Removes all but the newest `keep` of the included backups. */
export async function pruneSeries(
  series: string,
  keep: number,
  now: number,
  isIncluded: Whose,
): Promise<void> {
  const { complete } = await listSeries(series, now, isIncluded);
  for (const { folder } of complete.slice(0, -keep)) await removeBackup(folder);
}

/** Removes a backup, complete or not. */
export async function removeBackup(folder: string): Promise<void> {
  // Removed first, so that an interrupted removal leaves no seemingly complete backup.
  for (const file of LAST_WRITTEN) await rm(join(folder, file), { force: true });
  await rm(folder, { recursive: true, force: true });
}
