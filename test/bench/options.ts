import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dir, "..", "..");
const DIST = join(ROOT, "dist");

export interface Options {
  /** Numbers of memories to measure with, ascending. */
  readonly sizes: readonly number[];
  /** Where results go. */
  readonly out: string;
  /** What to run; `null` for the checkout. */
  readonly executable: string | null;
}

export const USAGE = `bun run bench [--memories 1000,10000] [--out FOLDER] [--executable PATH | --source]

Measures a server over HTTP against the budgets of the design and exits with 1 when one is missed.
  --memories N     memories in the account (10000); several, separated by commas, in one run
  --out FOLDER     for results.json and the plots (dist/bench)
  --executable P   the executable to measure (dist/ctxd if it is there)
  --source         measure the checkout instead
`;

/** @throws Error that says what is wrong with the arguments */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      memories: { type: "string", default: "10000" },
      out: { type: "string", default: join(DIST, "bench") },
      executable: { type: "string" },
      source: { type: "boolean", default: false },
    },
  });
  const sizes = values.memories.split(",").map(Number);
  if (!sizes.every((size) => Number.isInteger(size) && size >= 256)) {
    throw new Error("--memories: give whole numbers from 256 up, separated by commas");
  }
  const built = join(DIST, "ctxd");
  const executable = values.executable ?? (existsSync(built) ? built : null);
  return {
    sizes: [...new Set(sizes)].sort((a, b) => a - b),
    out: resolve(values.out),
    executable: values.source || executable === null ? null : resolve(executable),
  };
}
