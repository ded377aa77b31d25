/** The kind of constraint that a refused row violates. */
type Violation = "unique" | "foreign key";

const VIOLATIONS: Record<string, Violation> = {
  SQLITE_CONSTRAINT_UNIQUE: "unique",
  SQLITE_CONSTRAINT_PRIMARYKEY: "unique",
  SQLITE_CONSTRAINT_FOREIGNKEY: "foreign key",
  // PostgreSQL's SQLSTATE, class 23.
  "23505": "unique",
  "23503": "foreign key",
};

/** The constraint that an error of SQLite or PostgreSQL reports as violated; null for another error. */
export function constraintViolation(error: unknown): Violation | null {
  if (!(error instanceof Error)) return null;
  // Bun's PostgreSQL client has the SQLSTATE in `errno`.
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return VIOLATIONS[String(errno)] ?? VIOLATIONS[String(code)] ?? null;
}
