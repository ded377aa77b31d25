import type { Dialect } from "./dialect.ts";

/** Creates the table declarations of each part of the program, once for a database. */
export function createTableDeclarations(dialect: Dialect) {
  const created = new Map<unknown, unknown>();
  return <Tables>(create: (dialect: Dialect) => Tables): Tables => {
    if (!created.has(create)) created.set(create, create(dialect));
    return created.get(create) as Tables;
  };
}
