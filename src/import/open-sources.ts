import { filesIn, listFolder } from "./folder.ts";
import { fileAt, standardInput, statSource } from "./input-file.ts";
import { type Reading, type ReadOptions, readFiles } from "./read-files.ts";
import { readInWorker } from "./read-in-worker.ts";
import { SourceError } from "./source.ts";

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
  const names = await listFolder(path);
  if (names.length === 0) throw new SourceError(path, "has no files");
  return readFiles(await filesIn(path, names), { ...options, isFolder: true });
}
