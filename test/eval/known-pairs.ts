import { createRandom } from "../support/random.ts";
import { readFamilyPairs } from "./families.ts";
import { type Half, readBoth, readChangedFacts } from "./own-sets.ts";
import { type Pair, readPairs } from "./pairs.ts";
import { readSheetPairs } from "./sheets.ts";
import { plantedFacts } from "./tidy-facts.ts";

/** A pair of a set. Those of one group are learned from together or not at all: of one fact, shape or memory. */
export interface KnownPair extends Pair {
  set: "families" | "sheets" | "pairs" | "changed" | "corrections" | "both" | "planted";
  group: string;
}

/** Our own pairs, the facts that changed with what is beside them, and pairs that are both true. */
export async function readOwnPairs(half: Half): Promise<KnownPair[]> {
  const pairs = (await readPairs(half)).map(
    (pair): KnownPair => ({ ...pair, set: "pairs", group: pair.earlier }),
  );
  for (const file of ["changed", "corrections"] as const) {
    for (const { versions, beside } of await readChangedFacts(half, file)) {
      const [first = "", last = ""] = [versions[0], versions.at(-1)];
      const own = { set: file, group: first };
      for (const [at, later] of versions.entries()) {
        for (const earlier of versions.slice(0, at)) {
          pairs.push({ ...own, kind: "changed", earlier, later });
        }
      }
      for (const other of beside) {
        pairs.push({ ...own, kind: "related", earlier: first, later: other });
        pairs.push({ ...own, kind: "related", earlier: other, later: last });
      }
    }
  }
  for (const { shape, memories } of await readBoth(half)) {
    const [first, second] = memories;
    const own = { kind: "unrelated", set: "both", group: shape } as const;
    pairs.push({ ...own, earlier: first, later: second });
    pairs.push({ ...own, earlier: second, later: first });
  }
  return pairs;
}

/** Whether a pair is not learned from, so that least chances are chosen by it: those of a tenth of the groups. */
export function isKept({ group }: Pick<KnownPair, "group">): boolean {
  return Bun.hash.crc32(group) % 10 === 0;
}

/** The pairs of families of facts, and of sheets. */
export async function readWrittenPairs(half: Half): Promise<KnownPair[]> {
  const families = (await readFamilyPairs(half)).map(
    ({ family, ...pair }) => ({ ...pair, set: "families", group: family }) as const,
  );
  const sheets = (await readSheetPairs(half)).map(
    ({ sheet, ...pair }) => ({ ...pair, set: "sheets", group: sheet }) as const,
  );
  return [...families, ...sheets].map(({ kind, ...pair }) => ({
    ...pair,
    kind: kind === "other" ? "related" : kind,
  }));
}

/** All pairs of the planted facts. */
export function plantedPairs(): KnownPair[] {
  const texts = plantedFacts(createRandom(1).next);
  return texts.flatMap((one, at) =>
    texts.flatMap((other, place): KnownPair[] => {
      if (one.turn > other.turn || (one.turn === other.turn && at >= place)) return [];
      const ofOne = one.value === other.value ? "same" : "changed";
      const kind = one.fact === other.fact ? ofOne : "unrelated";
      const texts = { earlier: one.content, later: other.content };
      return [{ kind, ...texts, set: "planted", group: one.fact }];
    }),
  );
}
