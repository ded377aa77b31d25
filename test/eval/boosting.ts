import type { Tree, Trees } from "../../src/memories/ranking/trees.ts";
import type { Example } from "./logistic.ts";

/**
 * Gradient boosting of decision trees for log-odds (Friedman, "Greedy function approximation", 2001; second order as in
 * Chen & Guestrin, "XGBoost", 2016). Values are sorted into bins first (Ke et al., "LightGBM", 2017), and the leaf
 * that gains most is split next.
 */

interface Options {
  trees: number;
  leaves: number;
  rate: number;
  /** The least number of examples in a leaf. */
  leafSize: number;
  /** What keeps the values of leaves small (L2). */
  penalty: number;
}

const DEFAULTS: Options = { trees: 150, leaves: 10, rate: 0.08, leafSize: 20, penalty: 2 };
const BINS = 48;

/** A leaf while a tree grows, with the split that gains most. */
interface Leaf {
  node: number;
  rows: Int32Array;
  split: Split | null;
}

interface Split {
  gain: number;
  feature: number;
  bin: number;
}

/** What the examples are to the fit: their bins, one column a feature. */
interface Data {
  columns: Uint8Array[];
  edges: number[][];
  slopes: Float64Array;
  bends: Float64Array;
  options: Options;
}

export function fitTrees(examples: readonly Example[], some: Partial<Options> = {}): Trees {
  const options = { ...DEFAULTS, ...some };
  const width = examples[0]?.features.length ?? 0;
  const edges = Array.from({ length: width }, (_, at) => edgesOf(examples, at));
  const columns = edges.map((own, at) =>
    Uint8Array.from(examples, ({ features }) => binOf(own, features[at] ?? 0)),
  );
  const weight = (isTrue: boolean) =>
    examples.reduce((sum, one) => sum + (one.isTrue === isTrue ? one.weight : 0), 0);
  const start = Math.log(weight(true) / weight(false));
  const sums = new Float64Array(examples.length).fill(start);
  const [slopes, bends] = [new Float64Array(examples.length), new Float64Array(examples.length)];
  const data = { columns, edges, slopes, bends, options };
  const trees: Tree[] = [];
  for (let count = 0; count < options.trees; count++) {
    for (const [row, { isTrue, weight }] of examples.entries()) {
      const chance = 1 / (1 + Math.exp(-(sums[row] ?? 0)));
      slopes[row] = weight * (chance - (isTrue ? 1 : 0));
      bends[row] = weight * chance * (1 - chance);
    }
    trees.push(growTree(data, sums));
  }
  return { start: rounded(start), trees };
}

/** Grows a tree, and adds its values to the sums of the examples. */
function growTree(data: Data, sums: Float64Array): Tree {
  const tree: Tree = [];
  const leaves: Leaf[] = [];
  const addLeaf = (rows: Int32Array): number => {
    const node = tree.push(0) - 1;
    leaves.push({ node, rows, split: bestSplit(data, rows) });
    return node;
  };
  addLeaf(Int32Array.from(sums.keys()));
  while (leaves.length < data.options.leaves) {
    const best = leaves.reduce((a, b) => ((b.split?.gain ?? 0) > (a.split?.gain ?? 0) ? b : a));
    if (!best.split) break;
    const { feature, bin } = best.split;
    const column = data.columns[feature] ?? new Uint8Array(0);
    leaves.splice(leaves.indexOf(best), 1);
    const low = addLeaf(best.rows.filter((row) => (column[row] ?? 0) <= bin));
    const high = addLeaf(best.rows.filter((row) => (column[row] ?? 0) > bin));
    tree[best.node] = [feature, data.edges[feature]?.[bin] ?? 0, low, high];
  }
  for (const { node, rows } of leaves) {
    const value = rounded(leafValue(data, rows));
    tree[node] = value;
    for (const row of rows) sums[row] = (sums[row] ?? 0) + value;
  }
  return tree;
}

function leafValue({ slopes, bends, options }: Data, rows: Int32Array): number {
  let [slope, bend] = [0, options.penalty];
  for (const row of rows) {
    slope += slopes[row] ?? 0;
    bend += bends[row] ?? 0;
  }
  return (-options.rate * slope) / bend;
}

/** The split of some examples that gains most; null if none gains. */
function bestSplit(
  { columns, edges, slopes, bends, options }: Data,
  rows: Int32Array,
): Split | null {
  const { penalty, leafSize } = options;
  let best: Split | null = null;
  for (const [feature, column] of columns.entries()) {
    const slope = new Float64Array(BINS + 1);
    const bend = new Float64Array(BINS + 1);
    const count = new Int32Array(BINS + 1);
    let [allSlope, allBend] = [0, 0];
    for (const row of rows) {
      const bin = column[row] ?? 0;
      const [ownSlope, ownBend] = [slopes[row] ?? 0, bends[row] ?? 0];
      slope[bin] = (slope[bin] ?? 0) + ownSlope;
      bend[bin] = (bend[bin] ?? 0) + ownBend;
      count[bin] = (count[bin] ?? 0) + 1;
      allSlope += ownSlope;
      allBend += ownBend;
    }
    const whole = allSlope ** 2 / (allBend + penalty);
    let [lowSlope, lowBend, lowCount] = [0, 0, 0];
    for (let bin = 0; bin < (edges[feature]?.length ?? 0); bin++) {
      lowSlope += slope[bin] ?? 0;
      lowBend += bend[bin] ?? 0;
      lowCount += count[bin] ?? 0;
      if (lowCount < leafSize || rows.length - lowCount < leafSize) continue;
      const low = lowSlope ** 2 / (lowBend + penalty);
      const high = (allSlope - lowSlope) ** 2 / (allBend - lowBend + penalty);
      const gain = low + high - whole;
      if (gain > (best?.gain ?? 1e-6)) best = { gain, feature, bin };
    }
  }
  return best;
}

/** The values of a feature that end its bins, but the last. */
function edgesOf(examples: readonly Example[], at: number): number[] {
  const values = examples.map(({ features }) => features[at] ?? 0).sort((a, b) => a - b);
  const distinct = [...new Set(values)];
  const ends =
    distinct.length <= BINS
      ? distinct
      : [
          ...new Set(
            Array.from(
              { length: BINS },
              (_, bin) => values[Math.floor(((bin + 0.5) * values.length) / BINS)] ?? 0,
            ),
          ),
        ];
  return ends.slice(0, -1).map((end, bin) => rounded((end + (ends[bin + 1] ?? end)) / 2));
}

function binOf(edges: readonly number[], value: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= (edges[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
