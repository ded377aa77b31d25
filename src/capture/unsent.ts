import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { CtxdError } from "../errors.ts";
import { hashOf } from "../system/file-digest.ts";
import { moveFile, replaceFile } from "../system/files.ts";
import type { CaptureRequest } from "./requests.ts";

/** The server does not answer, or not like a server of ctxd. What waits for it is kept. */
export class ServerAway extends CtxdError {
  readonly code = "server_away";
}

/** What is kept at most for a server that does not answer; beyond that the oldest goes. */
export const UNSENT_LIMITS = { entries: 1_000, bytes: 32 << 20, days: 30 } as const;
const DAY_MS = 86_400_000;

/** An entry is waiting, or the sender has taken it. A taken one that is still there was not sent. */
const WAITING = ".json";
const TAKEN = ".taken";

/**
 * Keeps what must be sent to a server, in a file that only this user can read. A transcript has one entry, however
 * often its agent adds turns. A crash at any moment leaves whole entries.
 * @throws the system's error
 */
export async function keepUnsent(
  folder: string,
  entry: CaptureRequest,
  now = Date.now(),
): Promise<void> {
  const at = new Date(now).toISOString();
  const turns = entry.turns?.map((turn) => ({ at, ...turn }));
  const content = JSON.stringify({ ...entry, ...(turns && { turns }) });
  await replaceFile(join(folder, nameOf(entry, now) + WAITING), content);
  removeBeyondLimits(folder, now);
}

/** Names sort by time, those of transcripts last. */
function nameOf({ transcript }: CaptureRequest, now: number): string {
  if (transcript === undefined) return `${`${now}`.padStart(15, "0")}-${crypto.randomUUID()}`;
  return `of-${hashOf(transcript)}`;
}

function removeBeyondLimits(folder: string, now: number): void {
  const files = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? [{ path, size: found.size, at: found.mtimeMs }] : [];
  });
  // The newest is first, and always stays.
  files.sort((a, b) => b.at - a.at);
  let bytes = 0;
  for (const [index, { path, size, at }] of files.entries()) {
    bytes += size;
    const isBeyond = index >= UNSENT_LIMITS.entries || bytes > UNSENT_LIMITS.bytes;
    const isOld = now - at > UNSENT_LIMITS.days * DAY_MS;
    if (index > 0 && (isBeyond || isOld)) rmSync(path, { force: true });
  }
}

/** The names of the entries in a folder, in the order in which they must be sent. */
export function unsentIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(WAITING) || name.endsWith(TAKEN))
      .sort();
  } catch {
    return [];
  }
}

/**
 * Takes an entry, so that a hook which keeps the same transcript again makes another one.
 * @returns its new path
 * @throws the system's error
 */
export async function takeUnsent(path: string): Promise<string> {
  const taken = path.replace(/\.json$/, TAKEN);
  await moveFile(path, taken);
  return taken;
}
