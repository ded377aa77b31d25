import { createPostgresPool, type PostgresSession } from "./postgres-pool.ts";

/** What a statement is given and gives. Whole numbers of eight bytes are numbers, `bytea` is bytes. */
export type SqlValue = string | number | boolean | Uint8Array | null;

/** Statements on PostgreSQL, with `$1`, `$2`… for their parameters. */
export interface Statements {
  /** Rows as lists of values, in the order of the columns. */
  rows(statement: string, parameters?: readonly unknown[]): Promise<unknown[][]>;
  /** Rows by the names of the columns. */
  query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A connection to PostgreSQL, of several sessions. A statement by itself is one transaction; its wait
 * ends after some seconds, whatever became of the server.
 * @throws DatabaseUnavailable when the server can't be asked; OutcomeUnknown when a statement that is not
 *   a plain `SELECT` may have been made nevertheless; of the server what the statement is to blame for
 */
export interface Postgres extends Statements {
  /** Several statements without parameters, for migrations. */
  script(statements: string): Promise<void>;
  /**
   * Runs a task on one session, in one transaction: committed when it resolves.
   * @param isSerializable whether it fails where another one came between (else it may begin with
   *   `SET TRANSACTION`)
   */
  transaction<Result>(
    task: (tx: Statements) => Promise<Result>,
    options?: { isSerializable?: boolean },
  ): Promise<Result>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Sessions at the most. */
  sessions?: number;
  /** Milliseconds that a statement may take, and that it may wait for a session. */
  patience?: number;
}

/** Opens no session yet: the first statement does. */
export function connectPostgres(url: string, options: PostgresOptions = {}): Postgres {
  const pool = createPostgresPool(url, options);
  const transaction: Postgres["transaction"] = (task, { isSerializable = false } = {}) =>
    pool.use((session) => session.hold(() => transact(session, task, isSerializable)));

  return {
    ...statementsOf((statement, parameters, asArrays) =>
      pool.use((session) =>
        session.execute(statement, parameters, { asArrays, isWrite: !isReading(statement) }),
      ),
    ),
    script: (statements) => pool.use((session) => session.script(statements)),
    transaction,
    close: pool.close,
  };
}

async function transact<Result>(
  session: PostgresSession,
  task: (tx: Statements) => Promise<Result>,
  isSerializable: boolean,
): Promise<Result> {
  let isOpen = true;
  const control = (statement: string, isWrite = false) =>
    session.execute(statement, [], { isWrite });
  await control(isSerializable ? "BEGIN ISOLATION LEVEL SERIALIZABLE" : "BEGIN");
  try {
    const tx = statementsOf((statement, parameters, asArrays) => {
      if (!isOpen) throw new Error("this transaction has ended");
      // Nothing of it is kept before the commit.
      return session.execute(statement, parameters, { asArrays, isWrite: false });
    });
    const result = await task(tx);
    isOpen = false;
    await control("COMMIT", true);
    return result;
  } catch (error) {
    isOpen = false;
    // A connection that is lost has no transaction any more.
    if (!session.isLost) await control("ROLLBACK").catch(() => {});
    throw error;
  }
}

function statementsOf(
  run: (
    statement: string,
    parameters: readonly unknown[],
    asArrays: boolean,
  ) => ReturnType<PostgresSession["execute"]>,
): Statements {
  return {
    // The driver's rows have no types: what a statement gives is known where it is written.
    rows: async (statement, parameters = []) =>
      (await run(statement, parameters, true)) as unknown[][],
    query: async <Row>(statement: string, parameters: readonly unknown[] = []) =>
      (await run(statement, parameters, false)) as Row[],
  };
}

function isReading(statement: string): boolean {
  return /^\s*select\b/i.test(statement);
}
