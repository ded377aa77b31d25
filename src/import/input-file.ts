import { open, stat } from "node:fs/promises";
import { SourceError } from "./source.ts";

/** A file on disk, in an archive, in an upload or from standard input. */
export interface InputFile {
  /** Its name in locations; empty when it is the only file. */
  name: string;
  /** Its file name, which may show its kind. Default: `name`. */
  called?: string;
  /** Its path on disk. */
  path?: string;
  /** Bytes; null when unknown. */
  size: number | null;
  /** Time of the last change, in milliseconds since 1970; null when unknown. */
  modifiedAt: number | null;
  /** Its bytes from the beginning. Called once. */
  read(): AsyncIterable<Uint8Array>;
  /** The whole file, for formats that are read from their end. Without it, the bytes are collected. */
  blob?(): Blob;
}

/** Bytes that are read at once. */
const CHUNK_BYTES = 1 << 16;

/** @throws SourceError when the file does not exist */
export async function fileAt(path: string, name: string): Promise<InputFile> {
  const { size, mtimeMs } = await statSource(path);
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

/** @throws SourceError when the path does not exist */
export async function statSource(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    throw explain(path, cause);
  }
}

export function standardInput(): InputFile {
  return { name: "", size: null, modifiedAt: null, read: () => Bun.stdin.stream() };
}

/** An uploaded file. */
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
    while (true) {
      const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(CHUNK_BYTES) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

function explain(path: string, cause: unknown): SourceError {
  const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
  const problem = reason === "ENOENT" ? "does not exist" : `can't be read (${reason})`;
  return new SourceError(path, problem, { cause });
}
