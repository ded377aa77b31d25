const LONGEST = 60;

/** A row of a table of tests with the beginning of its last value before it, for the test's name. */
export function named<Value>(row: readonly [string, Value]): [string, string, Value] {
  const [first, value] = row;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return [first, text.slice(0, LONGEST), value];
}
