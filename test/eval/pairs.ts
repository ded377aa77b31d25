import { join } from "node:path";

/** What the later of two memories is to the earlier one. */
export type PairKind = "same" | "changed" | "related" | "unrelated";

export interface Pair {
  kind: PairKind;
  earlier: string;
  later: string;
}

const KINDS: Record<string, PairKind> = {
  "=": "same",
  "~": "changed",
  "+": "related",
  "-": "unrelated",
};

/**
 * Our own pairs of memories, of which a hint is to tell the first two kinds.
 * @param half `held` only judges what was fitted to `dev`
 */
export async function readPairs(half: "dev" | "held"): Promise<Pair[]> {
  const older = (await readPairFile("pairs.txt")).filter(
    (_, at) => (at % 2 === 0) === (half === "dev"),
  );
  return [...older, ...(await readPairFile(`values-${half}.txt`))];
}

export async function readPairFile(name: string): Promise<Pair[]> {
  const lines = (await Bun.file(join(import.meta.dir, "own", name)).text()).split("\n");
  return lines.flatMap((line, at) => {
    const kind = KINDS[line];
    const [earlier, later] = [lines[at + 1], lines[at + 2]];
    return kind && earlier && later ? [{ kind, earlier, later }] : [];
  });
}
