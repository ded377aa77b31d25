import type { SQLQueryBindings, Database as Sqlite, Statement } from "bun:sqlite";
import { LRUCache } from "lru-cache";

/** Statements that are kept prepared: more than the program has, but for lists of changing lengths. */
const MOST = 200;

/** Executes statements by a connection, and keeps them prepared. */
export function createStatements(sqlite: Sqlite) {
  const prepared = new LRUCache<string, Statement>({
    max: MOST,
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

    /** Whoever keeps a statement keeps the file open. */
    close: () => prepared.clear(),
  };
}
