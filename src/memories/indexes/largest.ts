/** Whether the owner of a number may be found; `null` when all may. */
export type Accepts = ((number: number) => boolean) | null;

/**
 * The places of the largest values, the largest first. Nearly all values are compared with only one number.
 * @param length how many of the values count
 * @param accepts called only for values that would be among the largest
 */
export function largest(
  values: Float32Array,
  length: number,
  count: number,
  accepts: Accepts,
): number[] {
  const most = Math.min(length, count);
  const best = new Float32Array(most);
  const places = new Int32Array(most);
  let found = 0;
  let least = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < length; place++) {
    const value = values[place] ?? 0;
    if ((found === most && value <= least) || (accepts && !accepts(place))) continue;
    const at = endOfLarger(best, found, value);
    if (found < most) found++;
    best.copyWithin(at + 1, at, found - 1);
    places.copyWithin(at + 1, at, found - 1);
    best[at] = value;
    places[at] = place;
    least = best[found - 1] ?? least;
  }
  return Array.from(places.subarray(0, found));
}

/** The place after the last number that is not less than a value, in numbers sorted in descending order. */
function endOfLarger(falling: Float32Array, length: number, value: number): number {
  let start = 0;
  for (let end = length; start < end; ) {
    const middle = (start + end) >> 1;
    if ((falling[middle] ?? 0) < value) end = middle;
    else start = middle + 1;
  }
  return start;
}
