import { along, principalComponents } from "./principal-components.ts";
import { createRandomNumbers } from "./random-numbers.ts";

/** The nearest neighbours of many points. */
interface Neighbours {
  /** Number of neighbours of each point. */
  readonly count: number;
  /** The neighbours of the first point, the nearest first, then those of the second one and so on. */
  readonly points: Int32Array;
  /** The distance of each neighbour. */
  readonly distances: Float32Array;
}

/**
 * Compares each point with all others.
 * @param points the coordinates of the points, one point after the other
 * @param dimension coordinates of a point
 * @param most neighbours of a point; fewer if there are fewer other points
 */
export function findNeighbours(points: Float32Array, dimension: number, most: number): Neighbours {
  const size = points.length / dimension;
  const count = Math.min(most, Math.max(0, size - 1));
  const nearest = new Int32Array(size * count);
  const squares = new Float32Array(size * count).fill(Number.POSITIVE_INFINITY);

  /** Inserts a neighbour by its distance, and drops the farthest one. */
  const meet = (point: number, other: number, square: number) => {
    const first = point * count;
    let place = first + count - 1;
    if (square >= (squares[place] ?? 0)) return;
    for (; place > first && square < (squares[place - 1] ?? 0); place--) {
      squares[place] = squares[place - 1] ?? 0;
      nearest[place] = nearest[place - 1] ?? 0;
    }
    squares[place] = square;
    nearest[place] = other;
  };

  for (let a = 1; a < size; a++) {
    for (let b = 0; b < a; b++) {
      let square = 0;
      for (let at = 0; at < dimension; at++) {
        const difference = (points[a * dimension + at] ?? 0) - (points[b * dimension + at] ?? 0);
        square += difference * difference;
      }
      meet(a, b, square);
      meet(b, a, square);
    }
  }
  return { count, points: nearest, distances: squares.map(Math.sqrt) };
}

/** Principal components by which neighbours are found. The others are mostly noise. */
const COMPONENTS = 32;
const NEIGHBOURS = 15;
/** Number of rounds in which neighbours attract each other, for few points and for many. */
const ROUNDS = { few: 400, many: 200, manyFrom: 5_000 };
/** Random points that repel a point each time it is attracted. */
const PUSHES = 5;
/** The curve by which the attraction of neighbours fades: that of UMAP with `min_dist` 0.1. */
const [A, B] = [1.577, 0.895];
/** The longest step. */
const STEP = 4;
/** Half the width of the initial layout. */
const START = 10;

/**
 * Gives points of many dimensions a place in the plane, so that near points stay near. It starts from two principal
 * components. Then neighbours attract each other, as in UMAP (McInnes, Healy and Melville 2018, arXiv:1802.03426).
 * The same points always get the same places.
 * @param vectors one after the other, of length 1
 * @returns x and y of each, from 0 to 1
 */
export function layOut(vectors: Float32Array, dimension: number): Float32Array<ArrayBuffer> {
  const size = vectors.length / dimension;
  const count = Math.min(COMPONENTS, dimension);
  const components = along(vectors, principalComponents(vectors, dimension, count));
  const places = new Float32Array(2 * size);
  for (let point = 0; point < size; point++) {
    places[2 * point] = components[count * point] ?? 0;
    places[2 * point + 1] = components[count * point + 1] ?? 0;
  }
  scale(places, -START, START);
  pullTogether(places, findNeighbours(components, count, NEIGHBOURS));
  scale(places, 0, 1);
  return places;
}

/** Points between which a new point is put, and how far at most it is beside their middle. */
const NEAREST = 3;
const BESIDE = 0.01;

/**
 * Gives new points a place near the points that they are nearest to. All others stay.
 * @param former x and y of each point, 0 to 1; `NaN` for a new one
 */
export function placeAmong(
  vectors: Float32Array,
  dimension: number,
  former: Float32Array<ArrayBuffer>,
): Float32Array<ArrayBuffer> {
  const places = former.slice();
  const random = createRandomNumbers();
  const isNew = (point: number) => Number.isNaN(former[2 * point]);
  for (let point = 0; point < former.length / 2; point++) {
    if (!isNew(point)) continue;
    /** The known points that are most alike, the best first. */
    let nearest: { other: number; likeness: number }[] = [];
    for (let other = 0; other < former.length / 2; other++) {
      if (isNew(other)) continue;
      let likeness = 0;
      for (let at = 0; at < dimension; at++) {
        likeness += (vectors[point * dimension + at] ?? 0) * (vectors[other * dimension + at] ?? 0);
      }
      if (nearest.length === NEAREST && likeness <= (nearest.at(-1)?.likeness ?? 0)) continue;
      nearest.push({ other, likeness });
      nearest = nearest.sort((a, b) => b.likeness - a.likeness).slice(0, NEAREST);
    }
    for (const axis of [0, 1]) {
      const sum = nearest.reduce((total, { other }) => total + (former[2 * other + axis] ?? 0), 0);
      const place = sum / nearest.length + BESIDE * (2 * random() - 1);
      places[2 * point + axis] = Math.min(1, Math.max(0, place));
    }
  }
  return places;
}

/** Scales and moves all places to fill a square, without distortion. */
function scale(places: Float32Array, from: number, to: number): void {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [at, value] of places.entries()) {
    low[at % 2] = Math.min(low[at % 2] ?? 0, value);
    high[at % 2] = Math.max(high[at % 2] ?? 0, value);
  }
  const [left = 0, top = 0] = low;
  const [right = 0, bottom = 0] = high;
  const factor = (to - from) / (Math.max(right - left, bottom - top) || 1);
  for (const [at, value] of places.entries()) {
    const middle = at % 2 === 0 ? (left + right) / 2 : (top + bottom) / 2;
    places[at] = (from + to) / 2 + (value - middle) * factor;
  }
}

/** The weight of each pair of neighbours, 0 to 1, combined from the weights in both directions. */
function weightsOf({ count, points, distances }: Neighbours): Float32Array {
  const size = count === 0 ? 0 : points.length / count;
  const own = new Float32Array(points.length);
  const wanted = Math.log2(count + 1);
  for (let point = 0; point < size; point++) {
    const first = point * count;
    const nearest = distances[first] ?? 0;
    // Searches the width at which the weights of the point have the wanted sum.
    let [low, high, width] = [0, Number.POSITIVE_INFINITY, 1];
    for (let round = 0; round < 40; round++) {
      let sum = 0;
      for (let at = first; at < first + count; at++) {
        sum += Math.exp(-((distances[at] ?? 0) - nearest) / width);
      }
      if (sum > wanted) high = width;
      else low = width;
      width = high === Number.POSITIVE_INFINITY ? width * 2 : (low + high) / 2;
    }
    for (let at = first; at < first + count; at++) {
      own[at] = Math.exp(-((distances[at] ?? 0) - nearest) / Math.max(width, 1e-6));
    }
  }
  const back = (from: number, to: number) => {
    const nth = points.subarray(to * count, (to + 1) * count).indexOf(from);
    return nth < 0 ? 0 : (own[to * count + nth] ?? 0);
  };
  return own.map((weight, at) => {
    const other = back(Math.floor(at / count), points[at] ?? 0);
    return weight + other - weight * other;
  });
}

function pullTogether(places: Float32Array, neighbours: Neighbours): void {
  const { count, points } = neighbours;
  const size = places.length / 2;
  const weights = weightsOf(neighbours);
  const rounds = size < ROUNDS.manyFrom ? ROUNDS.few : ROUNDS.many;
  const random = createRandomNumbers();
  /** Progress of each pair towards its next attraction, to which its weight is added in every round. */
  const due = new Float32Array(points.length);
  for (let round = 0; round < rounds; round++) {
    const rate = 1 - round / rounds;
    for (let at = 0; at < points.length; at++) {
      due[at] = (due[at] ?? 0) + (weights[at] ?? 0);
      if ((due[at] ?? 0) < 1) continue;
      due[at] = (due[at] ?? 0) - 1;
      const a = 2 * Math.floor(at / count);
      move(places, a, 2 * (points[at] ?? 0), rate, pull, true);
      for (let push = 0; push < PUSHES; push++) {
        const other = 2 * Math.floor(random() * size);
        if (other !== a) move(places, a, other, rate, repel, false);
      }
    }
  }
}

const pull = (square: number) =>
  square === 0 ? 0 : (-2 * A * B * square ** (B - 1)) / (1 + A * square ** B);
const repel = (square: number) => (2 * B) / ((0.001 + square) * (1 + A * square ** B));

/** Moves a place along the line to another one, and on request also the other one in the opposite direction. */
function move(
  places: Float32Array,
  a: number,
  b: number,
  rate: number,
  force: (square: number) => number,
  isMutual: boolean,
): void {
  const x = (places[a] ?? 0) - (places[b] ?? 0);
  const y = (places[a + 1] ?? 0) - (places[b + 1] ?? 0);
  const factor = force(x * x + y * y);
  const right = rate * Math.max(-STEP, Math.min(STEP, factor * x));
  const down = rate * Math.max(-STEP, Math.min(STEP, factor * y));
  places[a] = (places[a] ?? 0) + right;
  places[a + 1] = (places[a + 1] ?? 0) + down;
  if (!isMutual) return;
  places[b] = (places[b] ?? 0) - right;
  places[b + 1] = (places[b + 1] ?? 0) - down;
}
