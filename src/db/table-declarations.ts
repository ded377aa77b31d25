import type { Dialect } from "./dialect.ts";

/** Makes the tables that each part of the program declares, once for a database. */
export function createTableDeclarations(dialect: Dialect) {
  const made = new Map<unknown, unknown>();
  return <Tables>(create: (dialect: Dialect) => Tables): Tables => {
    if (!made.has(create)) made.set(create, create(dialect));
    return made.get(create) as Tables;
  };
}
