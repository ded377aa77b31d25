import { type Dirent, existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { explained } from "./backup-error.ts";
import { SUMS } from "./container.ts";
import { MANIFEST } from "./manifest.ts";

/** A backup that has one of them is complete: of one that is not encrypted, and of one that is. */
const LAST_WRITTEN = [MANIFEST, SUMS] as const;

/** One of the backups that are made on a schedule. */
export interface ScheduledBackup {
  folder: string;
  /** When it was begun, in milliseconds since 1970. */
  at: number;
}

/** Which of the backups in a folder are meant: those of one server's data, where others write too. */
export type Whose = (origin: string | null) => boolean;

/** What stands for a server's data in the names of its backups: its owner does not change. */
export function originOf(ownerId: string): string {
  return new Bun.CryptoHasher("sha256").update(ownerId).digest("hex").slice(0, 8);
}

const NAME = /^ctxd-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})Z(?:-([0-9a-f]{8}))?$/;

/**
 * The folder of a backup that is begun at a moment: names sort by time, on every file system.
 * @param origin see `originOf`; null for data that has no owner yet
 */
export function folderOf(series: string, at: number, origin: string | null): string {
  const name = new Date(at).toISOString().replace(/\.\d+/, "").replaceAll(":", "-");
  return join(series, `ctxd-${name}${origin === null ? "" : `-${origin}`}`);
}

/**
 * The complete backups in the folder of a schedule, oldest first, and what a crash has left of
 * others. Whatever has another name is nobody's business. One of a time to come was made when the
 * clock was wrong: it counts as older than those that were not.
 * @throws BackupError when the folder can't be read
 */
export async function listSeries(
  series: string,
  now: number,
  isMeant: Whose = () => true,
): Promise<{ complete: ScheduledBackup[]; unfinished: string[] }> {
  const entries: Dirent[] = await explained(series, "read", () =>
    readdir(series, { withFileTypes: true }),
  );
  const complete: ScheduledBackup[] = [];
  const unfinished: string[] = [];
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const [, day, hours, minutes, seconds, origin = null] = NAME.exec(name) ?? [];
    const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
    if (Number.isNaN(at) || !isMeant(origin)) continue;
    const folder = join(series, name);
    const isComplete = LAST_WRITTEN.some((file) => existsSync(join(folder, file)));
    if (isComplete) complete.push({ folder, at });
    else unfinished.push(folder);
  }
  const byTime = complete.sort((a, b) => a.at - b.at);
  const isPast = ({ at }: ScheduledBackup) => at <= now;
  const [past, toCome] = [byTime.filter(isPast), byTime.filter((each) => !isPast(each))];
  return { complete: [...toCome, ...past], unfinished };
}

/** Removes all but the newest `keep` of the backups that are meant. */
export async function pruneSeries(
  series: string,
  keep: number,
  now: number,
  isMeant: Whose,
): Promise<void> {
  const { complete } = await listSeries(series, now, isMeant);
  for (const { folder } of complete.slice(0, -keep)) await removeBackup(folder);
}

/** Removes a backup, or what there is of it. */
export async function removeBackup(folder: string): Promise<void> {
  // First, so that what is left when this is cut off is no backup.
  for (const file of LAST_WRITTEN) await rm(join(folder, file), { force: true });
  await rm(folder, { recursive: true, force: true });
}
