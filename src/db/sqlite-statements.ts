import type { SQLQueryBindings, Database as Sqlite, Statement } from "bun:sqlite";
import { LRUCache } from "lru-cache";

/** Prepared statements in the cache. The program has fewer, except for those with lists of any length. */
const MAX_STATEMENTS = 200;

/** Executes statements on a connection and caches the prepared statements. */
export function createStatements(sqlite: Sqlite) {
  const prepared = new LRUCache<string, Statement>({
    max: MAX_STATEMENTS,
    dispose: (statement) => statement.finalize(),
  });

  const prepare = (sql: string): Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = sqlite.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };

  return {
    execute(sql: string, parameters: unknown[], method: string): { rows: unknown[] } {
      const statement = prepare(sql);
      const bindings = parameters as SQLQueryBindings[];
      if (method !== "run") return { rows: statement.values(...bindings) };
      statement.run(...bindings);
      return { rows: [] };
    },

    /** Finalizes all statements: an open statement keeps the file open. */
    close: () => prepared.clear(),
  };
}
