import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Bytes in a MiB, the unit of the budgets. */
export const MIB = 2 ** 20;

/** Bytes that a folder takes on the disk, in blocks as `du` counts them. */
export async function diskUse(folder: string): Promise<number> {
  const sizes = (await statsOf(folder)).map(({ blocks }) => blocks * 512);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Data files of all tables: what LanceDB has to open for a search that no index answers. */
export async function fragmentsIn(folder: string): Promise<number> {
  return (await statsOf(folder)).filter(({ path }) => /\/data\/[^/]+\.lance$/.test(path)).length;
}

/** Versions of all tables that are still there. */
export async function versionsIn(folder: string): Promise<number> {
  return (await statsOf(folder)).filter(({ path }) => /\/_versions\/[^/]+\.manifest$/.test(path))
    .length;
}

/** Tells a folder's state from any other that writes or upkeep would leave. */
export async function fingerprint(folder: string): Promise<string> {
  const files = (await statsOf(folder)).map(
    ({ path, size, mtimeMs }) => `${path} ${size} ${mtimeMs}`,
  );
  return String(Bun.hash(files.sort().join("\n")));
}

/** Bytes of memory that belong to a process alone (`RssAnon`); `null` where the system has no /proc. */
export async function anonymousMemory(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** What is in a folder. Files that upkeep removes meanwhile are left out. */
async function statsOf(folder: string) {
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const stats = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry);
      const stat = await lstat(path).catch(() => null);
      return stat && { path, size: stat.size, blocks: stat.blocks, mtimeMs: stat.mtimeMs };
    }),
  );
  return stats.filter((stat) => stat !== null);
}
