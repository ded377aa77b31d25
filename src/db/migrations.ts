import statements from "./migrations.sql" with { type: "text" };

/** The statements of each migration in a file of them. A migration begins with a line such as `-- 7: quotas`. */
export function migrationsIn(text: string): string[] {
  return text.split(/^-- \d+:.*$/m).slice(1);
}

/** All migrations of SQLite. A database records how many of them it has run (`PRAGMA user_version`). */
export const MIGRATIONS: readonly string[] = migrationsIn(statements);
