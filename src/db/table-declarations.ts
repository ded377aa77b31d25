import type { Dialect } from "./dialect.ts";

/** Creates the table declarations of each part of the program, once for a database. */
export function createTableDeclarations(dialect: Dialect) {
  const made = new Map<unknown, unknown>();
  return <Tables>(create: (dialect: Dialect) => Tables): Tables => {
    if (!made.has(create)) made.set(create, create(dialect));
    return made.get(create) as Tables;
  };
}
