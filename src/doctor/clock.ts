import type { Database as Sqlite } from "bun:sqlite";
import { type Finding, findingsOf } from "./finding.ts";

/** This version of the program did not exist before. */
const BUILT = Date.UTC(2026, 0, 1);
/** Clocks of two machines differ by this much without harm, in milliseconds. */
const TOLERANCE = 5 * 60_000;

/**
 * Whether the clock can be right: not before what has happened already.
 * @param newest milliseconds since 1970 of the newest thing that is known to have been made
 */
export function checkClock(now: number, newest: number | null): Finding {
  const { ok, problem } = findingsOf("clock");
  const text = new Date(now).toISOString();
  const remedy = "set the clock, or memories get a wrong age and a wrong order";
  if (now < BUILT) return problem(`${text} is before this program was built: ${remedy}.`);
  if (newest !== null && now + TOLERANCE < newest) {
    return problem(
      `${text} is before something was saved (${new Date(newest).toISOString()}): ${remedy}.`,
    );
  }
  return ok(text);
}

/** When the newest account or key was made; `null` when there is none. */
export function newestRecord(sqlite: Sqlite): number | null {
  const sql = `SELECT max(at) AS newest FROM (SELECT created_at AS at FROM accounts
    UNION ALL SELECT created_at FROM api_keys)`;
  return sqlite.query<{ newest: number | null }, []>(sql).get()?.newest ?? null;
}
