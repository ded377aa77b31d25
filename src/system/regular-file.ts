import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { withTimeLimit } from "../timing/time-limit.ts";

/** Milliseconds after which a small file counts as unreadable, such as one of a network that is gone. */
const TIMEOUT_MS = 2_000;

/**
 * Opens a regular file for reading. Opening another kind could wait forever (a pipe) or do something (a
 * device).
 * @throws the system's error, or Error for another kind of file
 */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file.`);
}

/**
 * Reads a file whose place somebody else chose. Its size is not asked for, because files of `/proc` say 0 and
 * never end.
 * @returns null for more bytes than `most`
 * @throws as `openRegular`
 */
export async function readWhole(path: string, most: number): Promise<Buffer | null> {
  await using file = await openRegular(path);
  return await readUpTo(file, most);
}

/**
 * Reads a small text whose place somebody else chose.
 * @param mayOwn whether a file of this user's id may be read
 * @returns null if it is missing, too long, no regular file, or can't be read in time
 */
export async function readSmallText(
  path: string,
  most: number,
  mayOwn: (uid: number) => boolean = () => true,
): Promise<string | null> {
  const read = async () => {
    await using file = await openRegular(path);
    if (!mayOwn((await file.stat()).uid)) return null;
    return (await readUpTo(file, most))?.toString() ?? null;
  };
  return withTimeLimit(
    read().catch(() => null),
    TIMEOUT_MS,
    () => null,
  );
}

/** @returns null for more bytes than `most` */
async function readUpTo(file: FileHandle, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  for (let left = most + 1; left > 0; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(Math.min(left, 65_536)) });
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
  }
  return null;
}
