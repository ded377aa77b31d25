import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Files below a folder that hold one of these texts or bytes, in any case of letters. */
export function filesWith(folder: string, traces: readonly (string | Uint8Array)[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const bytes = read(path);
      // Latin 1 keeps every byte, so that one search finds words in whatever stands around them.
      const text = bytes.toString("latin1").toLowerCase();
      return traces.some((trace) =>
        typeof trace === "string"
          ? text.includes(trace.toLowerCase())
          : bytes.includes(Buffer.from(trace)),
      );
    });
}

/** What upkeep removes between the listing and the reading holds nothing. */
function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Waits until something is found, and gives nothing after so many milliseconds all the same. */
export async function untilFound(
  folder: string,
  traces: readonly (string | Uint8Array)[],
  patience: number,
): Promise<string[]> {
  const end = performance.now() + patience;
  for (;;) {
    const found = filesWith(folder, traces);
    if (found.length > 0 || performance.now() > end) return found;
    await Bun.sleep(50);
  }
}

/** Waits until nothing is found, and gives what is found after so many milliseconds all the same. */
export async function untilGone(
  folder: string,
  traces: readonly (string | Uint8Array)[],
  patience: number,
): Promise<string[]> {
  const end = performance.now() + patience;
  for (;;) {
    const found = filesWith(folder, traces);
    if (found.length === 0 || performance.now() > end) return found;
    await Bun.sleep(200);
  }
}
