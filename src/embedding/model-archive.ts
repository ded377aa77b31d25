import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

/** Bytes of a header; contents are padded to a multiple of it. */
const BLOCK = 512;
const FILES = ["0", "\0"];
const LINKS = ["1", "2"];

/**
 * Unpacks the regular files of a folder in a .tar.gz (POSIX.1-2001, pax, "ustar Interchange Format"). Files
 * of other folders, and those whose names lead elsewhere, are left out.
 * @param name the folder in the archive
 * @param target the folder that receives the files
 * @param maxBytes of the archive without compression: a few bytes could become terabytes
 * @throws Error for a damaged or incomplete archive, a larger one, and one with links or without files
 */
export async function unpackModel(
  archive: string,
  { name, target, maxBytes }: { name: string; target: string; maxBytes: number },
): Promise<void> {
  let count = 0;
  await pipeline(createReadStream(archive), createGunzip(), async (bytes) => {
    const read = createReader(bytes, maxBytes);
    for (;;) {
      const header = await read.exactly(BLOCK);
      if (header === null) break;
      const entry = parseHeader(header);
      if (entry === null) continue;
      if (LINKS.includes(entry.type)) throw new Error(`the archive contains a link, ${entry.path}`);
      const path = FILES.includes(entry.type) ? pathBelow(name, entry.path) : null;
      await copy(read, entry.size, path === null ? null : join(target, path));
      if (path !== null) count++;
      await read.exactly(-entry.size & (BLOCK - 1));
    }
  });
  if (count === 0) throw new Error(`the archive has no folder ${name}`);
}

const incomplete = () => new Error("the archive is incomplete");

/** Reads a stream of bytes by counts. */
function createReader(stream: AsyncIterable<Buffer>, maxBytes: number) {
  const chunks = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  /** Fetches a chunk if all others are used. Returns false at the end of the stream. */
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next();
      if (done) return false;
      total += value.length;
      if (total > maxBytes) throw new Error(`it is larger than ${maxBytes / 1e9} GB`);
      rest = value;
    }
    return true;
  };
  const some = async (most: number): Promise<Buffer> => {
    if (!(await fill())) throw incomplete();
    const part = rest.subarray(0, most);
    rest = rest.subarray(most);
    return part;
  };
  return {
    /** The next bytes: at least one, at most so many. */
    some,
    /** So many bytes; null at the end of the stream. */
    async exactly(count: number): Promise<Buffer | null> {
      if (!(await fill())) return null;
      const parts: Buffer[] = [];
      for (let left = count; left > 0; left -= parts.at(-1)?.length ?? 0)
        parts.push(await some(left));
      return Buffer.concat(parts);
    },
  };
}

/** The parts of a header; null for the empty blocks at the end of an archive. */
function parseHeader(header: Buffer): { path: string; type: string; size: number } | null {
  const text = (start: number, length: number) =>
    header.toString("utf8", start, start + length).split("\0", 1)[0] ?? "";
  const number = (start: number, length: number) => {
    const digits = text(start, length).trim();
    return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
  };
  if (header.every((byte) => byte === 0)) return null;
  // The sum counts its own field as spaces.
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  const size = number(124, 12);
  if (number(148, 8) !== sum || Number.isNaN(size)) throw new Error("the archive is damaged");
  const prefix = text(257, 5) === "ustar" ? text(345, 155) : "";
  const type = header.toString("latin1", 156, 157);
  return { path: prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`, type, size };
}

/** The path of a file within a folder; null for a file that is elsewhere. */
function pathBelow(folder: string, path: string): string | null {
  const [first, ...names] = path.replace(/^\.\//, "").split("/");
  const isPlain = names.every((name) => /^[\w.-]+$/.test(name) && !/^\.\.?$/.test(name));
  return first === folder && names.length > 0 && isPlain ? names.join("/") : null;
}

/** Copies the next bytes to a new file, or to none. */
async function copy(
  { some }: ReturnType<typeof createReader>,
  size: number,
  path: string | null,
): Promise<void> {
  const file = path === null ? null : await createFile(path);
  try {
    for (let left = size; left > 0; ) {
      const part = await some(left);
      await file?.writeFile(part);
      left -= part.length;
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
}

async function createFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, "w", 0o600);
}
