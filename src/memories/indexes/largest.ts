/** Whether the owner of a number may be found; `null` when all may. */
export type Accepts = ((number: number) => boolean) | null;

/**
 * The places of the largest values, the largest first, and of equal ones the first. Nearly all values are compared
 * with only one number.
 * @param length how many of the values count
 * @param accepts called only for values that would be among the largest
 * @param above what all of them must be larger than
 */
export function largest(
  values: Float32Array,
  length: number,
  count: number,
  accepts: Accepts,
  above = Number.NEGATIVE_INFINITY,
): number[] {
  const most = Math.min(length, count);
  /** A heap: each place comes after the two below it in the result. So its first place is the last of the result. */
  const heap = new Int32Array(most);
  let found = 0;
  let least = above;
  for (let place = 0; place < length; place++) {
    const value = values[place] ?? 0;
    if (value <= least || (accepts && !accepts(place))) continue;
    if (found < most) moveUp(values, heap, found++, place);
    else moveDown(values, heap, place);
    if (found === most) least = values[heap[0] ?? 0] ?? 0;
  }
  return Array.from(heap.subarray(0, found)).sort(
    (a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b,
  );
}

/** Whether a place comes after another one in the result. */
function isAfter(values: Float32Array, place: number, other: number): boolean {
  const own = values[place] ?? 0;
  const others = values[other] ?? 0;
  return own < others || (own === others && place > other);
}

/** Adds a place to a heap of `length` places. */
function moveUp(values: Float32Array, heap: Int32Array, length: number, place: number): void {
  let at = length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] ?? 0;
    if (!isAfter(values, place, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = place;
}

/** Replaces the first place of a full heap. */
function moveDown(values: Float32Array, heap: Int32Array, place: number): void {
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    const right = child + 1;
    if (right < heap.length && isAfter(values, heap[right] ?? 0, heap[child] ?? 0)) child = right;
    if (!isAfter(values, heap[child] ?? 0, place)) break;
    heap[at] = heap[child] ?? 0;
    at = child;
  }
  heap[at] = place;
}

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

/**
 * The names of numbers, those with the largest values first, and of equal ones the largest names. Sorting values and names
 * without a function that compares two numbers takes a tenth to a third of the time.
 */
export function namesByValue(
  numbers: readonly number[],
  valueAt: (number: number) => number,
  nameAt: (number: number) => string,
): string[] {
  const values = Float64Array.from(numbers, valueAt).sort();
  /** By the last place of a value: how many of its numbers were found. */
  const counts = new Int32Array(values.length);
  const ordered = new Int32Array(values.length);
  for (const number of numbers) {
    const last = placeOf(valueAt(number), values, ascending) - 1;
    const count = counts[last] ?? 0;
    ordered[last - count] = number;
    counts[last] = count + 1;
  }
  const names: string[] = [];
  for (let end = ordered.length, start: number; end > 0; end = start) {
    start = end - 1;
    while (start > 0 && values[start - 1] === values[start]) start--;
    const equals: string[] = [];
    for (let at = start; at < end; at++) equals.push(nameAt(ordered[at] ?? 0));
    if (equals.length > 1) equals.sort().reverse();
    for (const name of equals) names.push(name);
  }
  return names;
}

const ascending = (a: number, b: number) => a - b;

/** Where in a sorted list a number belongs: after its equals. */
function placeOf(
  number: number,
  sorted: ArrayLike<number>,
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
