import type { Filter } from "../../src/memories/model/filter.ts";

/** A value for each field of a filter. The compiler asks for that of a new one. */
type Values = {
  readonly [Name in Exclude<keyof Filter, "isBound">]: () => NonNullable<Filter[Name]>;
};

/** A filter with some of the values. @param has is asked for each field */
export function filterFrom(values: Values, has: () => boolean): Filter {
  const chosen = Object.entries(values).filter(has);
  return Object.fromEntries(chosen.map(([name, value]) => [name, value()]));
}
