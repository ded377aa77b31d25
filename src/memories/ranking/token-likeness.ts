import { matchTokens } from "../indexes/token-states.ts";

/** Similarities below which a word has no counterpart in the other text, or another one. */
const [ABSENT, OTHER] = [0.5, 0.7];
const MAX_WORDS = 8;

/** For each word of one text the similarity of the most similar word of another one, −1 to 1. */
type Matches = Float64Array;

/** How alike two texts are word by word. */
export interface TokenLikeness {
  readonly ofEarlier: Matches;
  readonly ofLater: Matches;
  readonly signs: TokenSigns;
}

/** Signs of how alike two texts are word by word. */
type TokenSigns = ReturnType<typeof signsOf>;

/**
 * Compares two texts word by word, by their token states (Khattab & Zaharia, "ColBERT", 2020).
 * @returns null when one of them has no states
 */
export function compareTokens(
  earlier: Int8Array | undefined,
  later: Int8Array | undefined,
): TokenLikeness | null {
  if (!earlier?.length || !later?.length) return null;
  const [ofEarlier, ofLater] = [matchTokens(earlier, later), matchTokens(later, earlier)];
  return { ofEarlier, ofLater, signs: signsOf(summarise(ofEarlier), summarise(ofLater)) };
}

/** What each sign is when words were not compared. */
const UNKNOWN = -1;

/** What counts of the words of a text: how well they match on average, the three that match least, and how many match badly. */
interface Summary {
  mean: number;
  least: number;
  second: number;
  third: number;
  absent: number;
  other: number;
  size: number;
}

const NO_SUMMARY: Summary = {
  ...{ mean: UNKNOWN, least: UNKNOWN, second: UNKNOWN, third: UNKNOWN },
  ...{ absent: UNKNOWN, other: UNKNOWN, size: UNKNOWN },
};

/** In one pass, since every pair of results that a search compares needs two. */
function summarise(matches: Matches): Summary {
  let [sum, least, second, third, absent, other] = [0, 1, 1, 1, 0, 0];
  for (let at = 0; at < matches.length; at++) {
    const match = matches[at] ?? 0;
    sum += match;
    if (match < ABSENT) absent++;
    if (match < OTHER) other++;
    if (match < least) [least, second, third] = [match, least, second];
    else if (match < second) [second, third] = [match, second];
    else if (match < third) third = match;
  }
  return {
    ...{ mean: sum / matches.length, least, second, third, size: Math.log2(1 + matches.length) },
    ...{ absent: Math.min(MAX_WORDS, absent), other: Math.min(MAX_WORDS, other) },
  };
}

/** The order of the signs counts: the trees name a sign by its number. */
function signsOf(a: Summary, b: Summary) {
  return {
    "older matched": a.mean,
    "newer matched": b.mean,
    "less matched": Math.min(a.mean, b.mean),
    "least of older": a.least,
    "least of newer": b.least,
    "second least of older": a.second,
    "second least of newer": b.second,
    "third least of older": a.third,
    "third least of newer": b.third,
    "absent of older": a.absent,
    "absent of newer": b.absent,
    "other of older": a.other,
    "other of newer": b.other,
    "tokens of older": a.size,
    "tokens of newer": b.size,
  };
}

export const UNKNOWN_SIGNS: TokenSigns = signsOf(NO_SUMMARY, NO_SUMMARY);

/**
 * Signs of what the question asks for: how well each text matches it, and whether it names what only one of the two has.
 * @param likeness of the two texts
 * @param older the question compared with the older text
 */
export function askedTokenSigns(
  likeness: TokenLikeness | null,
  older: TokenLikeness | null,
  newer: TokenLikeness | null,
) {
  const [a, b] = [
    ownAsked(likeness?.ofEarlier, older?.ofLater),
    ownAsked(likeness?.ofLater, newer?.ofLater),
  ];
  const matched = (asked: TokenLikeness | null) => (asked ? mean(asked.ofEarlier) : UNKNOWN);
  const least = (asked: TokenLikeness | null) => (asked ? Math.min(...asked.ofEarlier) : UNKNOWN);
  return {
    "own asked of older": a.most,
    "own asked of newer": b.most,
    "own asked of older on average": a.average,
    "own asked of newer on average": b.average,
    "own asked of older in all": a.sum,
    "own asked of newer in all": b.sum,
    "rather asked of older": a.rather,
    "rather asked of newer": b.rather,
    "question in older": matched(older),
    "question in newer": matched(newer),
    "least of question in older": least(older),
    "least of question in newer": least(newer),
  };
}

/** How far the question names the words of a text that the other text lacks. */
function ownAsked(inOther: Matches | undefined, inQuestion: Matches | undefined) {
  if (!inOther || !inQuestion) {
    return { most: UNKNOWN, average: UNKNOWN, sum: UNKNOWN, rather: UNKNOWN };
  }
  let [most, sum, own, rather] = [0, 0, 0, 0];
  for (const [at, match] of inOther.entries()) {
    const asked = inQuestion[at] ?? 0;
    const value = (1 - match) * Math.max(0, asked);
    most = Math.max(most, value);
    rather = Math.max(rather, asked - match);
    sum += value;
    own += 1 - match;
  }
  return { most, average: own > 0 ? sum / own : 0, sum, rather };
}

function mean(values: Matches): number {
  return values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
}
