/** An array grows to this multiple of the needed length. */
const GROWTH = 1.25;

type Ints = Int32Array<ArrayBuffer>;
type Floats = Float64Array<ArrayBuffer>;

/** An array of at least a length with the same numbers: the array itself if it is long enough. */
export function growInts(array: Ints, length: number): Ints {
  if (array.length >= length) return array;
  const grown = new Int32Array(roomFor(length));
  grown.set(array);
  return grown;
}

export function growFloats(array: Floats, length: number): Floats {
  if (array.length >= length) return array;
  const grown = new Float64Array(roomFor(length));
  grown.set(array);
  return grown;
}

/** An array of at least a length, for any numbers: the array itself if it is long enough. */
export function scratchFloats(
  array: Float32Array<ArrayBuffer>,
  length: number,
): Float32Array<ArrayBuffer> {
  return array.length >= length ? array : new Float32Array(roomFor(length));
}

function roomFor(length: number): number {
  return Math.max(16, Math.ceil(length * GROWTH));
}
