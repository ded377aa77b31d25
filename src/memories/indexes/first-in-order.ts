/**
 * Of the numbers below an end the first of some order, in that order; all without a limit. It is
 * quick where the largest numbers come first, or nearly.
 * @param compare less than 0 when the first of two comes before the second
 */
export function firstInOrder(
  end: number,
  accepts: (number: number) => boolean,
  compare: (a: number, b: number) => number,
  limit = Number.POSITIVE_INFINITY,
): number[] {
  const found: number[] = [];
  let isSorted = true;
  for (let number = end - 1; number >= 0; number--) {
    const last = found[found.length - 1];
    const isLast = last === undefined || compare(last, number) <= 0;
    if (found.length < limit) {
      if (!accepts(number)) continue;
      found.push(number);
      isSorted &&= isLast;
      if (found.length === limit && !isSorted) found.sort(compare);
    } else if (!isLast && accepts(number)) {
      found.pop();
      found.splice(placeOf(number, found, compare), 0, number);
    }
  }
  return isSorted || found.length === limit ? found : found.sort(compare);
}

/** Where in a sorted list a number belongs. */
function placeOf(
  number: number,
  sorted: readonly number[],
  compare: (a: number, b: number) => number,
) {
  let start = 0;
  for (let end = sorted.length; start < end; ) {
    const middle = (start + end) >> 1;
    if (compare(number, sorted[middle] ?? 0) < 0) end = middle;
    else start = middle + 1;
  }
  return start;
}
