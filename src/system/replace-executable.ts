import { copyFile, link, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "./durability.ts";
import { moveFile } from "./files.ts";

/**
 * Puts a file in the place of an executable that may be running. The former one stays beside it.
 * @param replacement in the same folder; it is gone afterwards
 * @returns the path of the former one
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
    // A second name, so that there is an executable at every moment. Some file systems have no links.
    await link(executable, former).catch(() => copyFile(executable, former));
    await rename(replacement, executable);
  }
  await syncFolder(dirname(executable));
  return former;
}

/** `ctxd.old`, and `ctxd.old.exe` where programs need that ending. */
function formerOf(executable: string): string {
  const [, stem = executable, ending = ""] = /^(.*?)(\.exe)?$/is.exec(executable) ?? [];
  return `${stem}.old${ending}`;
}

/** Windows lets a running program get another name, but nothing take its place. */
async function swap(executable: string, former: string, replacement: string): Promise<void> {
  await moveFile(executable, former);
  try {
    await moveFile(replacement, executable);
  } catch (error) {
    await moveFile(former, executable);
    throw error;
  }
}
