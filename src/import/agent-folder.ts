import { relative } from "node:path";
import { homeFolder } from "../system/folders.ts";
import { fileAt } from "./files/input-file.ts";
import { SourceError } from "./files/source.ts";
import { type Reading, type ReadOptions, readFiles } from "./read-files.ts";
import { listTranscripts } from "./transcripts/folders.ts";

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
    throw new SourceError(`The folder of ${agent}`, "can't be read", { cause });
  });
  if (paths.length === 0) throw new SourceError(folder, `has no transcripts of ${agent}`);
  const files = await Promise.all(paths.map((path) => fileAt(path, relative(folder, path))));
  return readFiles(files, { ...options, isFolder: true, isOrdered: true });
}
