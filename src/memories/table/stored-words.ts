import type { HeldBase } from "../base/base.ts";
import { MAX_MISSPELT, mayBeNear, nearestWords, nearness } from "../indexes/near-words.ts";
import { tokensOf } from "../indexes/tokens.ts";
import type { Filter } from "../model/filter.ts";
import type { StoredMemory } from "../model/rows.ts";

/** What is known of a search's words in a table that is not in memory. */
interface WordStatistics {
  /** How many memories have a word. */
  textsWith: Map<string, number>;
  /** Similar words, with their nearness, for each word that no memory has. */
  nearWords: Map<string, Map<string, number>>;
}

/**
 * Counts words in the base and in pending memories, and finds similar words for those that no memory has.
 * @param pending the changed memories that count
 * @param filter limits the memories of the base that count
 */
export async function countWords(
  base: HeldBase,
  words: readonly string[],
  pending: readonly StoredMemory[],
  filter: Filter | undefined,
): Promise<WordStatistics> {
  // A search by meaning has no words: then no text must be read.
  const texts = words.length > 0 ? pending.map(({ content }) => new Set(tokensOf(content))) : [];
  const count = async (counted: readonly string[]) => {
    const none = new Map<string, number>();
    const inBase = await base.read((open) => open.countTexts(counted, filter), none);
    const inPending = (word: string) => texts.filter((each) => each.has(word)).length;
    return new Map(counted.map((word) => [word, (inBase.get(word) ?? 0) + inPending(word)]));
  };
  const textsWith = await count(words);
  const nearWords = await findNearWords(
    base,
    words.filter((word) => !textsWith.get(word) && mayBeNear(word)),
    texts,
  );
  for (const [word, amount] of await count(wordsOf(nearWords))) textsWith.set(word, amount);
  // Only memories outside the filter may have a near word.
  for (const near of filter ? nearWords.values() : []) {
    for (const word of near.keys()) if (!textsWith.get(word)) near.delete(word);
  }
  return { textsWith, nearWords };
}

/** All near words of all words. */
export function wordsOf(nearWords: WordStatistics["nearWords"]): string[] {
  return [...nearWords.values()].flatMap((each) => [...each.keys()]);
}

async function findNearWords(
  base: HeldBase,
  unknown: readonly string[],
  texts: readonly ReadonlySet<string>[],
): Promise<WordStatistics["nearWords"]> {
  const found: WordStatistics["nearWords"] = new Map();
  const pendingWords = unknown.length > 0 ? new Set(texts.flatMap((each) => [...each])) : [];
  for (const word of unknown.slice(0, MAX_MISSPELT)) {
    const inBase = await base.read((open) => open.nearWords(word), new Map<string, number>());
    const all = new Set([...inBase.keys(), ...pendingWords]);
    found.set(word, nearestWords([...all].map((each) => [each, nearness(word, each)])));
  }
  return found;
}
