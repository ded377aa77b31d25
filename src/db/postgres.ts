import { createPostgresPool, type PostgresOptions, type PostgresSession } from "./postgres-pool.ts";

/**
 * Runs statements on PostgreSQL, with `$1`, `$2`… for their parameters. 64-bit integers are numbers and
 * `bytea` is a `Uint8Array`.
 */
export interface Statements {
  /** Returns rows as lists of values, in the order of the columns. */
  rows(statement: string, parameters?: readonly unknown[]): Promise<unknown[][]>;
  /** Returns rows as objects, by the names of the columns. */
  query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A connection to PostgreSQL with several sessions. A single statement is one transaction, and has a time
 * limit of some seconds.
 * @throws DatabaseUnavailable when the server can't be used; OutcomeUnknown when a statement other than a
 *   plain `SELECT` may have been run nevertheless; the server's own error when the statement is wrong
 */
export interface Postgres extends Statements {
  /** Runs several statements without parameters, for migrations. */
  script(statements: string): Promise<void>;
  /**
   * Runs a task in one transaction on one session. The transaction is committed when the task resolves.
   * @param isSerializable whether it fails after a conflict with another transaction. Otherwise the task may
   *   begin with `SET TRANSACTION`.
   */
  transaction<Result>(
    task: (tx: Statements) => Promise<Result>,
    options?: { isSerializable?: boolean },
  ): Promise<Result>;
  close(): Promise<void>;
}

/** A connection to the database of a URL. The first statement opens the first session. */
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
      // A lost statement has no effect: without a commit nothing is kept.
      return session.execute(statement, parameters, { asArrays, isWrite: false });
    });
    const result = await task(tx);
    isOpen = false;
    await control("COMMIT", true);
    return result;
  } catch (error) {
    isOpen = false;
    // The transaction of a lost connection has ended.
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
    // The driver's rows have no types: the caller knows the columns of its statement.
    rows: async (statement, parameters = []) =>
      (await run(statement, parameters, true)) as unknown[][],
    query: async <Row>(statement: string, parameters: readonly unknown[] = []) =>
      (await run(statement, parameters, false)) as Row[],
  };
}

function isReading(statement: string): boolean {
  return /^\s*select\b/i.test(statement);
}
