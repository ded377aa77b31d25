/** The places of the largest values, in order. Nearly all values are compared with one number only. */
export function largest(
  length: number,
  count: number,
  valueAt: (place: number) => number,
): number[] {
  const found: { place: number; value: number }[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < length; place++) {
    const value = valueAt(place);
    if (value <= least) continue;
    let at = found.length;
    while (at > 0 && (found[at - 1]?.value ?? 0) < value) at--;
    found.splice(at, 0, { place, value });
    if (found.length <= count) continue;
    found.pop();
    least = found[count - 1]?.value ?? least;
  }
  return found.map(({ place }) => place);
}
