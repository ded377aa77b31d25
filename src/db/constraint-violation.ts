/** What was wrong with a row that a database refused. */
export type Violation = "unique" | "foreign key";

const VIOLATIONS: Record<string, Violation> = {
  SQLITE_CONSTRAINT_UNIQUE: "unique",
  SQLITE_CONSTRAINT_PRIMARYKEY: "unique",
  SQLITE_CONSTRAINT_FOREIGNKEY: "foreign key",
  // PostgreSQL's SQLSTATE, class 23.
  "23505": "unique",
  "23503": "foreign key",
};

/** Which rule of a table an error of any kind of database tells of; null for another error. */
export function constraintViolation(error: unknown): Violation | null {
  if (!(error instanceof Error)) return null;
  // `errno` is where Bun's client of PostgreSQL has the SQLSTATE.
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return VIOLATIONS[String(errno)] ?? VIOLATIONS[String(code)] ?? null;
}
