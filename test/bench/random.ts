/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** A whole number, `least` and `most` included. */
  between(least: number, most: number): number;
  /** One of a list; with a `skew` above 1 the first ones more often, as words of a language are. */
  pick<Item>(items: readonly Item[], skew?: number): Item;
}

/** Mulberry32 by Tommy Ettinger: 32 bits of state, enough for sentences. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick(items, skew = 1) {
      const item = items[Math.floor(next() ** skew * items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
}
