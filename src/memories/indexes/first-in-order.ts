/**
 * The first of the numbers below `end`, in some order; all of them without a limit. This is fast if the largest
 * numbers come first, or nearly.
 * @param compare negative when its first argument comes before its second
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
