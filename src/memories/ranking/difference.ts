import type { FactText, FactToken, TokenKind } from "./fact-text.ts";

/** A place where two texts differ: what one of them has there, and the other. */
export interface Region {
  earlier: readonly FactToken[];
  later: readonly FactToken[];
  /** Whether no common word comes before it, or after it. */
  isStart: boolean;
  isEnd: boolean;
}

/** How the words of two texts differ. */
export interface Difference {
  /** The number of words that both have, in any order, and in the same order. */
  both: number;
  inOrder: number;
  /** Words that only one of them has. */
  onlyEarlier: readonly FactToken[];
  onlyLater: readonly FactToken[];
  regions: readonly Region[];
}

/** Compares the words of two texts. */
export function differenceOf(earlier: FactText, later: FactText): Difference {
  const matched = longestCommon(earlier.tokens, later.tokens);
  const onlyEarlier = earlier.tokens.filter(({ key }) => !later.keys.has(key));
  const onlyLater = later.tokens.filter(({ key }) => !earlier.keys.has(key));
  return {
    both: countOf(earlier.keys, (key) => later.keys.has(key)),
    inOrder: matched.length,
    onlyEarlier,
    onlyLater,
    regions: regionsOf(earlier, later, matched),
  };
}

/** The regions between the words in common. A word that the other text has elsewhere is in none. */
function regionsOf(
  earlier: FactText,
  later: FactText,
  matched: readonly (readonly [number, number])[],
): Region[] {
  const regions: Region[] = [];
  const ends = [...matched, [earlier.tokens.length, later.tokens.length] as const];
  let [fromEarlier, fromLater] = [0, 0];
  for (const [at, [toEarlier, toLater]] of ends.entries()) {
    const region = {
      earlier: earlier.tokens
        .slice(fromEarlier, toEarlier)
        .filter(({ key }) => !later.keys.has(key)),
      later: later.tokens.slice(fromLater, toLater).filter(({ key }) => !earlier.keys.has(key)),
      isStart: at === 0,
      isEnd: at === ends.length - 1,
    };
    if (region.earlier.length + region.later.length > 0) regions.push(region);
    [fromEarlier, fromLater] = [toEarlier + 1, toLater + 1];
  }
  return regions;
}

/** The places of the words of a longest common subsequence in both texts. */
function longestCommon(
  earlier: readonly FactToken[],
  later: readonly FactToken[],
): [number, number][] {
  const width = later.length + 1;
  const lengths = new Uint8Array((earlier.length + 1) * width);
  for (let a = earlier.length - 1; a >= 0; a--) {
    for (let b = later.length - 1; b >= 0; b--) {
      lengths[a * width + b] =
        earlier[a]?.key === later[b]?.key
          ? 1 + (lengths[(a + 1) * width + b + 1] ?? 0)
          : Math.max(lengths[(a + 1) * width + b] ?? 0, lengths[a * width + b + 1] ?? 0);
    }
  }
  const matched: [number, number][] = [];
  for (let a = 0, b = 0; a < earlier.length && b < later.length; ) {
    if (earlier[a]?.key === later[b]?.key) matched.push([a++, b++]);
    else if ((lengths[(a + 1) * width + b] ?? 0) >= (lengths[a * width + b + 1] ?? 0)) a++;
    else b++;
  }
  return matched;
}

/** How many keys count. */
export function countOf(keys: ReadonlySet<string>, counts: (key: string) => boolean): number {
  let count = 0;
  for (const key of keys) if (counts(key)) count++;
  return count;
}

/** The tokens of a kind. */
export function ofKind(tokens: readonly FactToken[], ...kinds: readonly TokenKind[]): FactToken[] {
  return tokens.filter(({ kind }) => kinds.includes(kind));
}
