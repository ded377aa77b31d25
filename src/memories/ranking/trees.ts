/** A leaf's value, or a split: which sign, the largest value of its low side, and the nodes of both sides. */
type Node = number | readonly [sign: number, most: number, low: number, high: number];

/** A decision tree. Its first node is the root. */
export type Tree = Node[];

/** Boosted decision trees: the sum of their values is in log-odds. */
export interface Trees {
  start: number;
  trees: readonly Tree[];
}

/** The log-odds that trees give signs. */
export function sumOfTrees({ start, trees }: Trees, signs: ArrayLike<number>): number {
  let sum = start;
  for (const tree of trees) {
    let node = tree[0] ?? 0;
    while (typeof node !== "number") {
      const [sign, most, low, high] = node;
      node = tree[(signs[sign] ?? 0) <= most ? low : high] ?? 0;
    }
    sum += node;
  }
  return sum;
}
