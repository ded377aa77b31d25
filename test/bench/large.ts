import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Line } from "./budgets.ts";
import { diskUse, fragmentsIn, MIB, versionsIn } from "./footprint.ts";

/** Above this number of memories, real vectors would take too long. */
export const MOST_OVER_HTTP = 100_000;

/** What `search-folder.ts` prints. */
interface Searched {
  readonly p50: number;
  readonly p95: number;
  readonly first: number;
  readonly inMemory: number;
  /** Memories in memory: none where there is no room for them. */
  readonly viewed: number;
  readonly searching: number;
  readonly idle: number;
}

/**
 * Measures searches in more memories than can be embedded in reasonable time. One process prepares a
 * data folder through this checkout's own storage, another one searches in it, both without HTTP.
 */
export async function measureLarge(memories: number): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-bench-"));
  try {
    const { mib, seconds } = await run<{ mib: number; seconds: number }>("fill", folder, memories);
    const [disk, fragments] = [await diskUse(folder), await fragmentsIn(folder)];
    const versions = await versionsIn(folder);
    const { p50, p95, idle, ...found } = await run<Searched>("search", folder, memories);
    const { first, inMemory, viewed, searching } = found;
    const line = (name: Line["name"], figure: number, also: Line["also"] = {}) => ({
      ...{ name, memories, floor: null, figure, also },
    });
    return [
      line("largeSearch", p50, { p95, viewed }),
      line("largeMemory", idle, { searching }),
      line("firstSearch", first),
      line("inMemory", inMemory),
      { ...line("disk", disk / MIB, { fillSeconds: seconds }), floor: mib },
      line("fragments", fragments),
      line("versions", versions),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one of the two programs, and reads what it prints. @throws Error when it fails */
async function run<Result>(task: "fill" | "search", folder: string, memories: number) {
  const program = join(import.meta.dir, `${task}-folder.ts`);
  const child = Bun.spawn([process.execPath, program, folder, String(memories)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, exitCode] = await Promise.all([child.stdout.text(), child.exited]);
  if (exitCode !== 0) throw new Error(`${task}-folder.ts ended with ${exitCode}`);
  return JSON.parse(text) as Result;
}
