/** The nearest neighbours of many points. */
export interface Neighbours {
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
