import { open, stat } from "node:fs/promises";
import { SourceError } from "./source.ts";

/** A file of any kind: on the disk, in an archive, in a form or from standard input. */
export interface InputFile {
  /** What the places in it are called after; empty for the only one. */
  name: string;
  /** What it is called where that tells its kind; by default `name`. */
  called?: string;
  /** Where it is on the disk. */
  path?: string;
  /** Bytes; null when that is not known. */
  size: number | null;
  /** When it was changed last, in milliseconds since 1970; null when that is not known. */
  modifiedAt: number | null;
  /** Its bytes from the beginning, asked for once. */
  read(): AsyncIterable<Uint8Array>;
  /** All of it, for what is read from its end; without it, the bytes are gathered. */
  blob?(): Blob;
}

/** Bytes that are read at once. */
const CHUNK = 1 << 16;

/** @throws SourceError when it is not there */
export async function fileAt(path: string, name: string): Promise<InputFile> {
  const { size, mtimeMs } = await lookAt(path);
  return {
    name,
    called: name || path,
    path,
    size,
    modifiedAt: Math.round(mtimeMs),
    read: () => readFile(path),
    blob: () => Bun.file(path),
  };
}

/** What the file system says of a path. @throws SourceError when nothing is there */
export async function lookAt(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    throw explain(path, cause);
  }
}

export function standardInput(): InputFile {
  return { name: "", size: null, modifiedAt: null, read: () => Bun.stdin.stream() };
}

/** A file of a form. */
export function uploadedFile(file: File, name: string): InputFile {
  const { size, lastModified } = file;
  return {
    name,
    called: file.name,
    size,
    modifiedAt: lastModified || null,
    read: () => file.stream(),
    blob: () => file,
  };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path).catch((cause) => {
    throw explain(path, cause);
  });
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(CHUNK) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function explain(path: string, cause: unknown): SourceError {
  const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
  const problem = reason === "ENOENT" ? "is not there" : `can't be read (${reason})`;
  return new SourceError(path, problem, { cause });
}
