import { realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

/** Whether a path is a folder or inside it, after resolving symbolic links. The path need not exist. */
export async function isWithin(path: string, folder: string): Promise<boolean> {
  const [inner, outer] = [await resolveLinks(path), await resolveLinks(folder)];
  return `${inner}${sep}`.startsWith(`${outer}${sep}`);
}

async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await resolveLinks(parent), basename(path));
  }
}
