import { type Metrics, measureCalls } from "../metrics.ts";
import type { Postgres } from "./postgres.ts";
import { DatabaseUnavailable, isSerializationFailure, OutcomeUnknown } from "./postgres-errors.ts";

/** Records the calls to PostgreSQL, their duration and their result as metrics. */
export function measurePostgres(postgres: Postgres, metrics: Metrics): Postgres {
  const measure = measureCalls(metrics, {
    name: "ctxd_database_request_duration_seconds",
    help: "Duration of statements and transactions, including the wait for a connection.",
    resultOf,
  });
  return {
    rows: (...args) => measure("statement", () => postgres.rows(...args)),
    query: <Row>(...args: Parameters<Postgres["query"]>) =>
      measure("statement", () => postgres.query<Row>(...args)),
    transaction: (...args) => measure("transaction", () => postgres.transaction(...args)),
    script: postgres.script,
    close: postgres.close,
  };
}

function resultOf(error: unknown): string {
  if (error instanceof OutcomeUnknown) return "unknown";
  if (error instanceof DatabaseUnavailable) return "unreachable";
  return isSerializationFailure(error) ? "conflict" : "failed";
}
