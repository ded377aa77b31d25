import type { Database as Sqlite } from "bun:sqlite";
import { type Finding, findingsOf } from "./finding.ts";

/** A time before this version of the program existed. */
const BUILT = Date.UTC(2026, 0, 1);
/** Milliseconds by which the clocks of two machines may differ. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * Checks that the clock is not before past events.
 * @param newest time of the newest known record, in milliseconds since 1970
 */
export function checkClock(now: number, newest: number | null): Finding {
  const { ok, problem } = findingsOf("clock");
  const text = new Date(now).toISOString();
  const remedy = "set the clock, otherwise memories get a wrong age and order";
  if (now < BUILT) return problem(`${text} is before this program was built: ${remedy}.`);
  if (newest !== null && now + TOLERANCE_MS < newest) {
    return problem(
      `${text} is before the time of saved data (${new Date(newest).toISOString()}): ${remedy}.`,
    );
  }
  return ok(text);
}

/** Creation time of the newest account or API key; `null` without any. */
export function newestRecord(sqlite: Sqlite): number | null {
  const sql = `SELECT max(at) AS newest FROM (SELECT created_at AS at FROM accounts
    UNION ALL SELECT created_at FROM api_keys)`;
  return sqlite.query<{ newest: number | null }, []>(sql).get()?.newest ?? null;
}
