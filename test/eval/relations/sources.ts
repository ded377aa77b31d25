import { readFamilyPairs } from "../families.ts";
import { type Half, readBoth, readChangedFacts } from "../own-sets.ts";
import { readPairs } from "../pairs.ts";

/** Two texts of which it is known what the later one is to the earlier one. */
export interface RelationPair {
  kind: "same" | "changed" | "other";
  earlier: string;
  later: string;
  /** Where it is from: `families`, or the name of a file of `own`. */
  set: string;
  /** Pairs of one group are learned from together or not at all: of one fact, or of one shape of sentence. */
  group: string;
}

/** All pairs of a half: of the families of facts, and of our own sets. Those of `held` only judge. */
export async function relationPairs(half: Half): Promise<RelationPair[]> {
  const pairs = (await readFamilyPairs(half)).map(
    ({ family, ...pair }): RelationPair => ({ ...pair, set: "families", group: family }),
  );
  for (const { kind, ...texts } of await readPairs(half)) {
    const told = kind === "same" || kind === "changed" ? kind : "other";
    pairs.push({ kind: told, ...texts, set: "pairs", group: texts.earlier });
  }
  for (const set of ["changed", "corrections"] as const) {
    for (const { versions, beside } of await readChangedFacts(half, set)) {
      const [group = "", last = ""] = [versions[0], versions.at(-1)];
      for (const [at, later] of versions.entries()) {
        for (const earlier of versions.slice(0, at)) {
          pairs.push({ kind: "changed", earlier, later, set, group });
        }
      }
      for (const other of beside) {
        pairs.push({ kind: "other", earlier: group, later: other, set, group });
        pairs.push({ kind: "other", earlier: other, later: last, set, group });
      }
    }
  }
  for (const { shape, memories } of await readBoth(half)) {
    const [first, second] = memories;
    const both = { kind: "other", set: "both", group: shape } as const;
    pairs.push({ ...both, earlier: first, later: second });
    pairs.push({ ...both, earlier: second, later: first });
  }
  return pairs;
}

/** Whether a pair of the first half is not learned from, because the least chances are chosen by it: a tenth of the groups. */
export function isKept({ group }: RelationPair): boolean {
  return Bun.hash.crc32(group) % 10 === 0;
}
