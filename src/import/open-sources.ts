import { filesIn, listFolder } from "./folder.ts";
import { fileAt, standardInput, statSource } from "./input-file.ts";
import { type Reading, type ReadOptions, readFiles } from "./read-files.ts";
import { SourceError } from "./source.ts";

/**
 * Opens files, folders and, as `-`, standard input.
 * @throws SourceError
 */
export async function openSources(
  paths: readonly string[],
  options: Pick<ReadOptions, "project" | "projectOf"> = {},
): Promise<Reading> {
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
