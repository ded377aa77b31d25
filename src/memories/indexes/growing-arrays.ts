/** An array grows to this multiple of the needed length. */
const GROWTH = 1.25;
const MIN_LENGTH = 16;

type Numbers = Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** An array of at least a length with the same numbers: the array itself if it is long enough. */
export function grow<Array extends Numbers>(array: Array, length: number): Array {
  return array.length >= length ? array : longer(array, length);
}

function longer<Array extends Numbers>(array: Array, length: number): Array {
  const create = array.constructor as new (length: number) => Array;
  const grown = new create(Math.max(MIN_LENGTH, Math.ceil(length * GROWTH)));
  grown.set(array);
  return grown;
}
