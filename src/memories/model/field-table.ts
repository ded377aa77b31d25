/**
 * A function for each field of an object. The compiler asks for that of a new field, so that it is not forgotten.
 * @param Names the fields, if not all
 */
export type FieldTable<Given, Subject, Result, Names extends keyof Given = keyof Given> = {
  readonly [Name in Names]-?: (
    value: Exclude<Given[Name], undefined>,
    subject: Subject,
    given: Given,
  ) => Result;
};

/** Calls the functions of all fields that are given, in the order of the table. @returns their results without null */
export function applyTable<Given, Subject, Result, Names extends keyof Given>(
  table: FieldTable<Given, Subject, Result | null, Names>,
  given: Given,
  subject: Subject,
): Result[] {
  const apply = <Name extends Names>(name: Name): Result | null => {
    const value = given[name];
    if (value === undefined) return null;
    return table[name](value as Exclude<Given[Name], undefined>, subject, given);
  };
  const results = (Object.keys(table) as Names[]).map(apply);
  return results.filter((result): result is Result & {} => result !== null);
}
