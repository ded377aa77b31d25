export type Random = ReturnType<typeof createRandom>;

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** At least 0, less than 1. */
    next,
    /** A whole number from 0 to `count` − 1. */
    below: (count: number) => Math.floor(next() * count),
    pick<Item>(items: readonly Item[]): Item | undefined {
      return items[Math.floor(next() * items.length)];
    },
    /** The items in another order. */
    shuffled<Item>(items: readonly Item[]): Item[] {
      return items
        .map((item) => ({ item, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item);
    },
    /** A word that is in no other text. */
    word: () =>
      `w${Array.from({ length: 12 }, () => "abcdefghijkmnopqrstuvwxyz"[Math.floor(next() * 25)]).join("")}`,
  };
}
