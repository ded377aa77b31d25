/** How much more room is made than is needed. */
const SPARE = 1.25;

type Ints = Int32Array<ArrayBuffer>;
type Floats = Float64Array<ArrayBuffer>;

/** The same numbers with room for so many: a longer array where this one is too short. */
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

function roomFor(length: number): number {
  return Math.max(16, Math.ceil(length * SPARE));
}
