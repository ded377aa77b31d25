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

/** Our own pairs of memories, of which a hint is to tell the first two kinds. */
export async function readPairs(): Promise<Pair[]> {
  const lines = (await Bun.file(join(import.meta.dir, "own/pairs.txt")).text()).split("\n");
  return lines.flatMap((line, at) => {
    const kind = KINDS[line];
    const [earlier, later] = [lines[at + 1], lines[at + 2]];
    return kind && earlier && later ? [{ kind, earlier, later }] : [];
  });
}

/** The half of them that weights are fitted to, or the one that only judges. */
export function halfOf(pairs: readonly Pair[], half: "dev" | "held"): Pair[] {
  return pairs.filter((_, at) => (at % 2 === 0) === (half === "dev"));
}
