import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Budget } from "./recall.ts";
import { type EvaluationSet, readSet } from "./set.ts";

/** Sets of one source. */
export interface Group {
  name: string;
  /** What its memories are about, where another group is about the same. */
  about?: string;
  files: { name: string; set: EvaluationSet }[];
}

/** What is asked of the sets that the figures are published for, by how their files begin. */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  locomo: { least: [0.51, 0.79, 0.84], aim: [0.54, 0.83, 0.88] },
  realtalk: { least: [0.32, 0.55, 0.64], aim: [0.36, 0.6, 0.7] },
  lmepool: { least: [0.44, 0.81, 0.895], aim: [0.5, 0.86, 0.94] },
  beam: { least: [0.25, 0.58, 0.66], aim: [0.32, 0.66, 0.74] },
  tradzh: { least: [0.36, 0.95, 0.96], aim: [0.6, 0.97, 0.98] },
};
export const FACTS_BUDGET: Budget = { least: [0.806, 0.951, 0.986], aim: [0.9, 0.98, 1] };

/** Reads the sets of a folder: `locomo-26.json` is of the group `locomo`. */
export async function readGroups(folder: string): Promise<Group[]> {
  const groups = new Map<string, Group>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".json")).sort()) {
    const [name = file] = file.split("-");
    const group = groups.get(name) ?? { name, files: [] };
    group.files.push({
      name: basename(file, ".json"),
      set: await readSet(join(folder, file)),
    });
    groups.set(name, group);
  }
  return [...groups.values()];
}
