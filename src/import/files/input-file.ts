import { open, stat } from "node:fs/promises";
import type { FoundEntry } from "../formats/format.ts";
import {
  type FileOrigin,
  locationIn,
  readTextLines,
  SourceError,
  type TextSource,
} from "./source.ts";

/** The kind of a file in a folder or an archive, by its name. */
type Kind = "note" | "data" | "other";

const NOTE = /\.(md|markdown|txt)$/i;
const DATA = /\.(jsonl?|ndjson|csv|tsv|af|pdf|zip|zst)$/i;

/** Files of the kind `other` are not opened: chat exports contain thousands of images. */
export function kindOf(name: string): Kind {
  return NOTE.test(name) ? "note" : DATA.test(name) ? "data" : "other";
}

/** Sorts by name, with the files first that contain the names of projects. */
export function compareReadingOrder(a: { name: string }, b: { name: string }): number {
  return Number(hasProjects(b.name)) - Number(hasProjects(a.name)) || (a.name < b.name ? -1 : 1);
}

function hasProjects(name: string): boolean {
  return /(^|[/ ])projects(\.json$|\/)/.test(name);
}

/** The name of a file without its folders and its extension. */
export function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
}

/** A file that can be read. */
export interface InputFile extends FileOrigin {
  /** Bytes; null when unknown. */
  size: number | null;
  /** Its bytes from the beginning. Called once. */
  read(): AsyncIterable<Uint8Array>;
  /** The whole file, for formats that are read from their end. Without it, the bytes are collected. */
  blob?(): Blob;
}

/** @throws SourceError when the file does not exist */
export async function fileAt(path: string, name: string): Promise<InputFile> {
  const { size, mtimeMs } = await statSource(path);
  return {
    name,
    fileName: name || path,
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

export function uploadedFile(file: File, name: string): InputFile {
  const { size, lastModified } = file;
  return {
    name,
    fileName: file.name,
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
  yield* file.createReadStream();
}

function explain(path: string, cause: unknown): SourceError {
  const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
  const problem = reason === "ENOENT" ? "does not exist" : `can't be read (${reason})`;
  return new SourceError(path, problem, { cause });
}

/** Characters of a text that is read as a whole, and bytes of one line. */
const MAX_TEXT = 64 << 20;
/** Lines of a text, and unreadable ones. Each takes memory, however short it is. */
const MAX_LINES = { all: 2_000_000, unreadable: 10_000 };

/** The lines of a text. An unreadable line is null and is reported among the problems. */
export async function readText(
  source: TextSource,
): Promise<{ lines: (string | null)[]; problems: FoundEntry[] }> {
  const lines: (string | null)[] = [];
  const problems: FoundEntry[] = [];
  let characters = 0;
  for await (const line of readTextLines(source, MAX_TEXT)) {
    if ("text" in line) characters += line.text.length;
    else {
      problems.push({ at: locationIn(source, `line ${line.number}`), problem: line.problem });
    }
    if (problems.length > MAX_LINES.unreadable) {
      throw new SourceError(source.name, "is not text in UTF-8");
    }
    if (characters > MAX_TEXT || line.number > MAX_LINES.all) {
      throw new SourceError(source.name, "is too large: split it into several files");
    }
    lines.push("text" in line ? line.text : null);
  }
  return { lines, problems };
}
