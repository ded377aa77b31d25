import { SQL } from "bun";
import { withTimeLimit } from "../timing/time-limit.ts";
import { DatabaseUnavailable, explainPostgresError, OutcomeUnknown } from "./database-error.ts";

/*
 * The driver is Bun's own, which the executable contains already. npm's `postgres` 3.4.9 was tried: broken
 * connections stayed in its pool permanently, and each statement on them waited for its time limit. Bun's
 * own pool sends statements to a busy connection while others are free, so a slow statement delays them.
 * Therefore ctxd has its own pool. Each session is a client with one connection. It runs one statement at a
 * time, and is closed when a statement takes too long.
 */

export interface PostgresOptions {
  sessions?: number;
  /** Milliseconds that a statement may take, and that it may wait for a session. */
  timeoutMs?: number;
}

/** A connection that one task uses alone. */
export interface PostgresSession {
  /** Whether the connection is broken. It accepts no more statements. */
  readonly isLost: boolean;
  execute(
    statement: string,
    parameters: readonly unknown[],
    options: { asArrays?: boolean; isWrite: boolean },
  ): Promise<unknown[]>;
  /**
   * Runs a task on the current connection only. Otherwise a client that lost its connection opens another
   * one for its next statement, which would be outside of the transaction.
   */
  hold<Result>(task: () => Promise<Result>): Promise<Result>;
  script(statements: string): Promise<void>;
}

const MAX_SESSIONS = 16;
const TIMEOUT_MS = 5_000;
/** The server cancels a statement this much earlier, so that its error arrives before the time limit. */
const SERVER_MARGIN_MS = 500;
/** For migrations, which may take longer than statements of requests. */
const SCRIPT_TIMEOUT_MS = 120_000;

type Client = SQL;
type Query = ReturnType<Client["unsafe"]>;

/** A pool that opens sessions when they are needed, up to `sessions`. One task uses a session at a time. */
export function createPostgresPool(
  url: string,
  { sessions = MAX_SESSIONS, timeoutMs = TIMEOUT_MS }: PostgresOptions = {},
) {
  const idle: Client[] = [];
  const waiting: PromiseWithResolvers<Client>[] = [];
  let open = 0;
  let isClosed = false;

  const connect = (): Client =>
    new SQL({
      url,
      max: 1,
      bigint: true,
      // In whole seconds: the client takes a fraction for no limit.
      connectionTimeout: Math.max(1, Math.round(timeoutMs / 2_000)),
      idleTimeout: 0,
      connection: {
        application_name: "ctxd",
        client_min_messages: "warning",
        statement_timeout: Math.max(1, timeoutMs - SERVER_MARGIN_MS),
        idle_in_transaction_session_timeout: 2 * timeoutMs,
      },
    });

  const acquire = (): Promise<Client> => {
    if (isClosed) throw new DatabaseUnavailable("The connection to the database has been closed.");
    const free = idle.pop();
    if (free) return Promise.resolve(free);
    if (open < sessions) {
      open++;
      return Promise.resolve(connect());
    }
    const waiter = Promise.withResolvers<Client>();
    waiting.push(waiter);
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(waiter), 1);
      waiter.reject(new DatabaseUnavailable("The database is busy. Try again in a moment."));
    }, timeoutMs);
    return waiter.promise.finally(() => clearTimeout(timer));
  };

  const release = (client: Client, isLost: boolean) => {
    if (isLost) void client.close({ timeout: 0 }).catch(() => {});
    const next = isLost && !isClosed && waiting.length > 0 ? connect() : client;
    const waiter = isClosed ? undefined : waiting.shift();
    if (waiter) return waiter.resolve(next);
    if (isLost) open--;
    else if (isClosed) void client.close({ timeout: 0 }).catch(() => {});
    // The most recently used session is used next: the server may have closed the others.
    else idle.push(client);
  };

  return {
    /** Runs a task with a session that no other task uses. */
    async use<Result>(task: (session: PostgresSession) => Promise<Result>): Promise<Result> {
      const client = await acquire();
      const session = createSession(client, timeoutMs);
      try {
        return await task(session);
      } finally {
        release(client, session.isLost);
      }
    },

    /** Closes all sessions. Running statements fail soon. */
    async close(): Promise<void> {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(new DatabaseUnavailable());
      await Promise.all(idle.splice(0).map((client) => client.close({ timeout: 0 })));
    },
  };
}

function createSession(client: Client, timeoutMs: number): PostgresSession {
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
      const cause = new Error(`no answer from the database after ${limit} ms`);
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
      const rows: unknown = await run(asArrays ? query.values() : query, timeoutMs, isWrite);
      return Array.isArray(rows) ? rows.map(asArrays ? plainList : plainRow) : [];
    },
    async hold(task) {
      const held = await run(client.reserve(), timeoutMs, false);
      connection = held;
      try {
        return await task();
      } finally {
        connection = client;
        held.release();
      }
    },
    async script(statements) {
      // The setting stays with the session, so it is reset afterwards.
      await run(client.unsafe("SET statement_timeout = 0").simple(), timeoutMs, false);
      try {
        await run(client.unsafe(statements).simple(), SCRIPT_TIMEOUT_MS, true);
      } finally {
        if (!isLost) await run(client.unsafe("RESET statement_timeout").simple(), timeoutMs, false);
      }
    },
  };
}

/** Converts 64-bit integers to numbers: all of ours are below 2^53. */
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
