import { createRandomNumbers } from "./random-numbers.ts";

/** Groups of places that are near each other. */
interface Clusters {
  /** x and y of the centre of each cluster. */
  centres: Float32Array;
  /** For each place the number of its cluster. */
  clusterOf: Uint8Array;
}

/** Attempts with different first centres, and rounds of each attempt. */
const ATTEMPTS = 4;
const ROUNDS = 25;

/**
 * Divides places of the plane into clusters: k-means (Lloyd) with first centres by k-means++. Returns the
 * best of several attempts. The same places always give the same clusters.
 * @param places x and y of each
 * @param count at most the number of places
 */
export function findClusters(places: Float32Array, count: number): Clusters {
  const size = places.length / 2;
  const random = createRandomNumbers();
  let best = { centres: new Float32Array(0), clusterOf: new Uint8Array(size), spread: Infinity };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const centres = chooseCentres(places, count, random);
    const clusterOf = new Uint8Array(size);
    let spread = 0;
    for (let round = 0; round < ROUNDS; round++) {
      spread = assign(places, centres, clusterOf);
      moveCentres(places, clusterOf, centres);
    }
    if (spread < best.spread) best = { centres, clusterOf, spread };
  }
  return best;
}

/** k-means++: the farther a place is from the centres so far, the likelier it becomes the next one. */
function chooseCentres(places: Float32Array, count: number, random: () => number) {
  const size = places.length / 2;
  const centres = new Float32Array(2 * count);
  /** For each place the square of its distance from the nearest centre so far. */
  const squares = new Float64Array(size).fill(1);
  for (let cluster = 0; cluster < count; cluster++) {
    let remaining = random() * squares.reduce((sum, value) => sum + value, 0);
    let chosen = 0;
    while (chosen < size - 1 && remaining > (squares[chosen] ?? 0)) {
      remaining -= squares[chosen++] ?? 0;
    }
    centres.set(places.subarray(2 * chosen, 2 * chosen + 2), 2 * cluster);
    for (let point = 0; point < size; point++) {
      const square = squareOfDistance(places, point, centres, cluster);
      squares[point] = cluster === 0 ? square : Math.min(squares[point] ?? 0, square);
    }
  }
  return centres;
}

/**
 * Assigns each place to the cluster with the nearest centre.
 * @returns the sum of the squares of all distances
 */
function assign(places: Float32Array, centres: Float32Array, clusterOf: Uint8Array): number {
  const count = centres.length / 2;
  let spread = 0;
  for (let point = 0; point < clusterOf.length; point++) {
    let least = Number.POSITIVE_INFINITY;
    for (let cluster = 0; cluster < count; cluster++) {
      const square = squareOfDistance(places, point, centres, cluster);
      if (square < least) {
        least = square;
        clusterOf[point] = cluster;
      }
    }
    spread += least;
  }
  return spread;
}

/** Moves each centre to the mean of its places. A centre without places stays. */
function moveCentres(places: Float32Array, clusterOf: Uint8Array, centres: Float32Array): void {
  const sums = new Float64Array(centres.length);
  const sizes = new Uint32Array(centres.length / 2);
  for (let point = 0; point < clusterOf.length; point++) {
    const cluster = clusterOf[point] ?? 0;
    sums[2 * cluster] = (sums[2 * cluster] ?? 0) + (places[2 * point] ?? 0);
    sums[2 * cluster + 1] = (sums[2 * cluster + 1] ?? 0) + (places[2 * point + 1] ?? 0);
    sizes[cluster] = (sizes[cluster] ?? 0) + 1;
  }
  for (const [cluster, size] of sizes.entries()) {
    if (size === 0) continue;
    centres[2 * cluster] = (sums[2 * cluster] ?? 0) / size;
    centres[2 * cluster + 1] = (sums[2 * cluster + 1] ?? 0) / size;
  }
}

function squareOfDistance(
  places: Float32Array,
  point: number,
  centres: Float32Array,
  cluster: number,
): number {
  const x = (places[2 * point] ?? 0) - (centres[2 * cluster] ?? 0);
  const y = (places[2 * point + 1] ?? 0) - (centres[2 * cluster + 1] ?? 0);
  return x * x + y * y;
}
