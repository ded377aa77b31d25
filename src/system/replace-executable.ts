import { copyFile, link, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./durability.ts";
import { moveFile } from "./files.ts";

/**
 * Replaces an executable that may be running. The former executable is kept beside it.
 * @param replacement a file in the same folder, which is moved
 * @returns the path of the former executable
 */
export async function replaceExecutable(
  executable: string,
  replacement: string,
  platform: string = process.platform,
): Promise<string> {
  const former = formerOf(executable);
  await rm(former, { force: true });
  if (platform === "win32") await swap(executable, former, replacement);
  else {
    // A hard link, so that the executable exists at every moment. Some file systems have no links.
    await link(executable, former).catch(() => copyFile(executable, former));
    await rename(replacement, executable);
  }
  await syncFolder(dirname(executable));
  return former;
}

/** `ctxd.old`, or `ctxd.old.exe` for an executable with that extension. */
function formerOf(executable: string): string {
  const [, stem = executable, ending = ""] = /^(.*?)(\.exe)?$/is.exec(executable) ?? [];
  return `${stem}.old${ending}`;
}

/** Windows allows renaming a running program, but not replacing it. */
async function swap(executable: string, former: string, replacement: string): Promise<void> {
  await moveFile(executable, former);
  try {
    await moveFile(replacement, executable);
  } catch (error) {
    await moveFile(former, executable);
    throw error;
  }
}
