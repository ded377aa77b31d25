import { SQL } from "bun";
import { withTimeLimit } from "../time-limit.ts";
import type { PostgresOptions } from "./postgres.ts";
import { DatabaseUnavailable, explainPostgresError, OutcomeUnknown } from "./postgres-errors.ts";

/*
 * The driver is Bun's own: it is in the executable already. Tried beside it was npm's `postgres` 3.4.9:
 * connections that were cut without a word stayed in its pool for good, each statement waiting for its time
 * limit. Bun's pool hands a statement to a busy connection while others are free, and a slow statement
 * holds it up. So the pool is ours, and each session is a client with one connection, which serves one
 * statement at a time and is given up when that takes too long.
 */

/** A connection that is ours alone. */
export interface PostgresSession {
  /** Whether the connection broke: nothing more can be asked of it. */
  readonly isLost: boolean;
  execute(
    statement: string,
    parameters: readonly unknown[],
    options: { asArrays?: boolean; isWrite: boolean },
  ): Promise<unknown[]>;
  /**
   * Runs a task on the connection that there is now. Else a client that has lost its connection makes
   * another one for its next statement, which would be outside of the transaction.
   */
  hold<Result>(task: () => Promise<Result>): Promise<Result>;
  script(statements: string): Promise<void>;
}

const SESSIONS = 16;
const PATIENCE = 5_000;
/** Milliseconds less than ours after which the server gives up a statement by itself, and says so. */
const SERVER_GIVES_UP_BEFORE = 500;
/** Migrations may take longer than statements of requests. */
const SCRIPT_PATIENCE = 120_000;

type Client = SQL;
type Query = ReturnType<Client["unsafe"]>;

/** Sessions that are used by one task at a time, as many as are needed at once, up to a bound. */
export function createPostgresPool(
  url: string,
  { sessions: most = SESSIONS, patience = PATIENCE }: PostgresOptions = {},
) {
  const idle: Client[] = [];
  const waiting: { take(client: Client): void; fail(error: unknown): void }[] = [];
  let open = 0;
  let isClosed = false;

  const connect = (): Client =>
    new SQL({
      url,
      max: 1,
      bigint: true,
      // In seconds; whole ones, since a fraction means none.
      connectionTimeout: Math.max(1, Math.round(patience / 2_000)),
      idleTimeout: 0,
      connection: {
        application_name: "ctxd",
        client_min_messages: "warning",
        statement_timeout: Math.max(1, patience - SERVER_GIVES_UP_BEFORE),
        idle_in_transaction_session_timeout: 2 * patience,
      },
    });

  const acquire = (): Promise<Client> => {
    if (isClosed) throw new DatabaseUnavailable("The connection to the database has been closed.");
    const free = idle.pop();
    if (free) return Promise.resolve(free);
    if (open < most) {
      open++;
      return Promise.resolve(connect());
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        take(client: Client) {
          clearTimeout(timer);
          resolve(client);
        },
        fail(error: unknown) {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(new DatabaseUnavailable("The database is busy. Try again in a moment."));
      }, patience);
      waiting.push(waiter);
    });
  };

  const release = (client: Client, isLost: boolean) => {
    if (isLost) void client.close({ timeout: 0 }).catch(() => {});
    const next = isLost && !isClosed && waiting.length > 0 ? connect() : client;
    const waiter = isClosed ? undefined : waiting.shift();
    if (waiter) return waiter.take(next);
    if (isLost) open--;
    else if (isClosed) void client.close({ timeout: 0 }).catch(() => {});
    // The one that was used last is used next: others may be closed by the server.
    else idle.push(client);
  };

  return {
    /** Runs a task with a session of its own. */
    async use<Result>(task: (session: PostgresSession) => Promise<Result>): Promise<Result> {
      const client = await acquire();
      const session = createSession(client, patience);
      try {
        return await task(session);
      } finally {
        release(client, session.isLost);
      }
    },

    /** Ends all sessions; statements under way fail after a moment. */
    async close(): Promise<void> {
      isClosed = true;
      for (const { fail } of waiting.splice(0)) fail(new DatabaseUnavailable());
      await Promise.all(idle.splice(0).map((client) => client.close({ timeout: 0 })));
    },
  };
}

function createSession(client: Client, patience: number): PostgresSession {
  let isLost = false;
  let connection: Pick<Client, "unsafe"> = client;

  const run = async <Answer>(
    query: Promise<Answer> & Partial<Pick<Query, "cancel">>,
    limit: number,
    isWrite: boolean,
  ): Promise<Answer> => {
    if (isLost) throw new DatabaseUnavailable();
    const expire = (): never => {
      isLost = true;
      query.cancel?.();
      const cause = new Error(`no answer of the database after ${limit} ms`);
      throw isWrite ? new OutcomeUnknown(cause) : new DatabaseUnavailable(undefined, { cause });
    };
    try {
      return await withTimeLimit(query, limit, expire);
    } catch (error) {
      const explained = explainPostgresError(error, isWrite);
      isLost ||= explained instanceof DatabaseUnavailable;
      throw explained;
    }
  };

  return {
    get isLost() {
      return isLost;
    },
    async execute(statement, parameters, { asArrays = false, isWrite }) {
      const query = connection.unsafe(statement, [...parameters]);
      const rows: unknown = await run(asArrays ? query.values() : query, patience, isWrite);
      return Array.isArray(rows) ? rows.map(asArrays ? plainList : plainRow) : [];
    },
    async hold(task) {
      const held = await run(client.reserve(), patience, false);
      connection = held;
      try {
        return await task();
      } finally {
        connection = client;
        held.release();
      }
    },
    async script(statements) {
      // What a session has set is set for all that follow.
      await run(client.unsafe("SET statement_timeout = 0").simple(), patience, false);
      try {
        await run(client.unsafe(statements).simple(), SCRIPT_PATIENCE, true);
      } finally {
        if (!isLost) await run(client.unsafe("RESET statement_timeout").simple(), patience, false);
      }
    },
  };
}

/** All of ours are below 2^53. */
function plain(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function plainList(row: unknown): unknown {
  return Array.isArray(row) ? row.map(plain) : row;
}

function plainRow(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]));
}
