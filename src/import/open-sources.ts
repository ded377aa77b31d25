import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { errorCode } from "../errors.ts";
import { homeFolder } from "../system/folders.ts";
import { fileAt, standardInput, statSource } from "./files/input-file.ts";
import { SourceError } from "./files/source.ts";
import { type Reading, type ReadOptions, readFiles } from "./read-files.ts";
import { readInWorker } from "./read-in-worker.ts";
import { listTranscripts } from "./transcripts/folders.ts";

/**
 * The files in a folder and its subfolders. Hidden files are left out, and links too: in a foreign folder
 * they could lead anywhere.
 */
async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    throw new SourceError(folder, "can't be read", { cause });
  });
  // The option `recursive` would follow links to folders.
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await listFiles(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

/** Limits of a PDF that this user chose: milliseconds until it goes on, bytes of memory, and more for its own bytes. */
const PDF_LIMITS = { silence: 600_000, memory: 256 << 20, memoryPerByte: 4 };

/** A PDF of a few hundred bytes can unpack to more than all memory. Nothing but the memory of its thread shows that. */
const readPdf: NonNullable<ReadOptions["readPdf"]> = (file, { project }) => {
  const { silence, memory, memoryPerByte } = PDF_LIMITS;
  return readInWorker([file], {
    project,
    limits: { silence, memory: memory + memoryPerByte * file.size },
  });
};

/**
 * Opens files, folders and, as `-`, standard input.
 * @throws SourceError
 */
export async function openSources(
  paths: readonly string[],
  given: Pick<ReadOptions, "project" | "projectOf"> = {},
): Promise<Reading> {
  const options = { ...given, readPdf };
  const [path = "-"] = paths;
  if (paths.length > 1) {
    const files = await Promise.all(paths.map((path) => fileAt(path, path)));
    return readFiles(files, options);
  }
  if (path === "-") return readFiles([standardInput()], options);
  if (!(await statSource(path)).isDirectory()) return readFiles([await fileAt(path, "")], options);
  const found = (await listFiles(path)).map((file) => relative(path, file)).sort();
  if (found.length === 0) throw new SourceError(path, "has no files");
  const files = await Promise.all(found.map((name) => fileAt(join(path, name), name)));
  return readFiles(files, { ...options, isFolder: true });
}

/**
 * Opens the transcripts of an agent on this machine.
 * @param env environment variables, which may name the agent's folder
 * @throws SourceError when there are no transcripts
 */
export async function openAgent(
  agent: string,
  { env, ...options }: ReadOptions & { env: Readonly<Record<string, string | undefined>> },
): Promise<Reading> {
  const home = homeFolder(env) ?? "";
  const { folder, paths } = await listTranscripts(agent, { env, home }).catch((cause) => {
    const [what, problem] =
      errorCode(cause) === "ENOENT"
        ? ["There", `are no conversations of ${agent} on this machine: it has never run here`]
        : ["The conversations", `of ${agent} can't be read (${errorCode(cause)})`];
    throw new SourceError(what, problem, { cause });
  });
  if (paths.length === 0) throw new SourceError(folder, `has no conversations of ${agent}`);
  const files = await Promise.all(paths.map((path) => fileAt(path, relative(folder, path))));
  return readFiles(files, { ...options, isFolder: true, isOrdered: true });
}
