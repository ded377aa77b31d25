/** A leaf's value, or a split: which sign, the largest value of its low side, and the nodes of both sides. */
type Node = number | readonly [sign: number, most: number, low: number, high: number];

/** A decision tree. Its first node is the root. */
export type Tree = Node[];

/** Boosted decision trees: the sum of their values is in log-odds. */
export interface Trees {
  start: number;
  trees: readonly Tree[];
}

/** Mark of a leaf. */
const LEAF = -1;

/** Returns a function that computes the log-odds of signs. All nodes lie in arrays of numbers, which is ten times as fast. */
export function readTrees({ start, trees }: Trees): (signs: Float64Array) => number {
  const count = trees.reduce((sum, tree) => sum + tree.length, 0);
  const sign = new Int16Array(count).fill(LEAF);
  /** The largest value of a split's low side, or a leaf's value. */
  const value = new Float64Array(count);
  const [low, high] = [new Int32Array(count), new Int32Array(count)];
  const roots = new Int32Array(trees.length);
  let next = 0;
  for (const [at, tree] of trees.entries()) {
    const root = next;
    roots[at] = root;
    for (const node of tree) {
      if (typeof node === "number") value[next] = node;
      else {
        [sign[next], value[next]] = [node[0], node[1]];
        [low[next], high[next]] = [root + node[2], root + node[3]];
      }
      next++;
    }
  }
  return (signs) => {
    let sum = start;
    for (let tree = 0; tree < roots.length; tree++) {
      let node = roots[tree] ?? 0;
      let asked = sign[node] ?? LEAF;
      while (asked !== LEAF) {
        node = ((signs[asked] ?? 0) <= (value[node] ?? 0) ? low[node] : high[node]) ?? 0;
        asked = sign[node] ?? LEAF;
      }
      sum += value[node] ?? 0;
    }
    return sum;
  };
}

/** Signs by their names, with how each is read. Their order counts: trees name a sign by its number. */
export type Signs<Read> = Readonly<Record<string, (read: Read) => number>>;

/** Returns a function that computes signs into a row, which its next call uses again. */
export function createSignReader<Read>(signs: Signs<Read>): (read: Read) => Float64Array {
  const readers = Object.values(signs);
  const row = new Float64Array(readers.length);
  return (read) => {
    for (let at = 0; at < readers.length; at++) row[at] = readers[at]?.(read) ?? 0;
    return row;
  };
}

/** A sign that holds or does not. */
export function flag(holds: boolean): number {
  return holds ? 1 : 0;
}
