import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MOST_OVER_HTTP } from "./large.ts";

const ROOT = join(import.meta.dir, "..", "..");
const DIST = join(ROOT, "dist");

export interface Options {
  /** Numbers of memories to measure with, ascending. */
  readonly sizes: readonly number[];
  /** Where results go. */
  readonly out: string;
  /** What to run; `null` for a checkout. */
  readonly executable: string | null;
  /** The checkout to run where there is no executable; `null` for this one. */
  readonly checkout: string | null;
  /** Whether others are measured beside it instead of its budgets. */
  readonly peers: boolean;
}

export const USAGE = `bun run bench [--memories 1000,10000] [--out FOLDER] [--executable PATH | --source | --checkout FOLDER]

Measures a server over HTTP against the budgets of the design and exits with 1 when one is missed.
  --memories N     memories in the account (10000); several, separated by commas, in one run
  --out FOLDER     for results.json and the plots (dist/bench)
  --executable P   the executable to measure (dist/ctxd if it is there)
  --source         measure this checkout instead
  --checkout F     measure another checkout, an earlier one say, whose libraries are installed
  --peers          compare it with what one would use instead, on the same texts: a table, peers.json and peers.svg.
                   Chroma is installed for that when it is first measured (420 MB on disk)

More than ${MOST_OVER_HTTP.toLocaleString("en")} memories are searched in a process of this checkout, without HTTP: their
vectors come from a stand-in for the engine.
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
      checkout: { type: "string" },
      peers: { type: "boolean", default: false },
    },
  });
  const sizes = values.memories.split(",").map(Number);
  if (!sizes.every((size) => Number.isInteger(size) && size >= 256)) {
    throw new Error("--memories: give whole numbers from 256 up, separated by commas");
  }
  const { peers } = values;
  const isOther = peers || values.executable !== undefined || values.checkout !== undefined;
  if (isOther && sizes.some((size) => size > MOST_OVER_HTTP)) {
    throw new Error(`--memories: another program is measured with ${MOST_OVER_HTTP} at the most`);
  }
  const built = join(DIST, "ctxd");
  const executable = values.executable ?? (existsSync(built) ? built : null);
  const isSource = values.source || values.checkout !== undefined || executable === null;
  return {
    sizes: [...new Set(sizes)].sort((a, b) => a - b),
    out: resolve(values.out),
    executable: isSource ? null : resolve(executable),
    checkout: values.checkout === undefined ? null : resolve(values.checkout),
    peers,
  };
}
