import type { Database as Sqlite } from "bun:sqlite";
import { dayOf } from "../activity/action.ts";
import { memoryCount } from "../text/number-text.ts";
import { showHidden } from "../text/plain-text.ts";
import { formatDate } from "../text/short-text.ts";
import {
  type AgentDay,
  agentStates,
  COUNTED_DAYS,
  LOCAL_SOURCE_ID,
  type OfUse,
} from "../uses/agent-states.ts";
import { type Finding, findingsOf } from "./finding.ts";

const DAY = 86_400_000;
/** Agents that are named at most, the last seen first. */
const MAX_NAMED = 20;

type Row<Value> = Value & { accountId: string };

/** Reads rows with a statement whose parameters are `$1` and so on. */
type Read = <Value>(statement: string, parameters: (string | number)[]) => Promise<Value[]>;

/** Reads a SQLite database. */
export function readerOf(sqlite: Sqlite): Read {
  return async <Value>(statement: string, parameters: (string | number)[]) =>
    sqlite.query<Value, (string | number)[]>(statement.replaceAll("$", "?")).all(...parameters);
}

/**
 * Tells what each agent brought, and warns about those whose capture or recall seems to be broken.
 * @param read reads a database with the schema of this version
 * @param capturing agents of this machine whose hooks capture
 */
export async function* checkCaptures(
  read: Read,
  { now, capturing }: { now: number; capturing: readonly string[] },
): AsyncGenerator<Finding> {
  const { ok, warning } = findingsOf("activity");
  const from = now - (COUNTED_DAYS - 1) * DAY;
  const days = await read<Row<Omit<AgentDay, "lastAt">> & { lastAt: number }>(
    `SELECT account_id AS "accountId", source_id AS "sourceId", agent, kind, day, times, memories, last_at AS "lastAt"
     FROM activity_days WHERE day >= $1`,
    [dayOf(from)],
  );
  const ofUse = await read<Row<OfUse>>(
    `SELECT account_id AS "accountId", source_id AS "sourceId", agent, count(*) AS memories
     FROM memory_uses WHERE created_at >= $1 GROUP BY 1, 2, 3`,
    [from],
  );
  const uncounted = await read<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM use_settings WHERE since IS NULL`,
    [],
  );
  const countsNothing = (id: string) => uncounted.some(({ accountId }) => accountId === id);
  const access = await read<{ id: string; name: string; isPaused: number }>(
    `SELECT id, name, CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS "isPaused" FROM api_keys
       WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
     UNION ALL SELECT id, client_name, CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END FROM oauth_grants
       WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)`,
    [now],
  );
  const machines = [
    { id: LOCAL_SOURCE_ID, name: "this machine", isPaused: false },
    ...access.map((each) => ({ ...each, isPaused: each.isPaused === 1 })),
  ];
  const states = [...Map.groupBy(days, ({ accountId }) => accountId)].flatMap(([id, own]) =>
    agentStates(
      own.map((day) => ({ ...day, lastAt: new Date(day.lastAt) })),
      {
        ...{ machines, capturing, now },
        ofUse: countsNothing(id) ? null : ofUse.filter(({ accountId }) => accountId === id),
      },
    ),
  );
  if (states.length === 0) yield ok("no agent has used the memories yet");
  const broken = states.filter(({ warnings }) => warnings.length > 0);
  const well = states.filter(({ warnings }) => warnings.length === 0);
  for (const state of [...broken, ...well].slice(0, MAX_NAMED)) {
    const agent = state.agent === null ? "" : `${showHidden(state.agent)} on `;
    const name = `${agent}${showHidden(state.machine)}`;
    if (state.warnings.length > 0) {
      yield warning(
        `${name} ${state.warnings.join(", and ")}: restart it, or run ctxd connect again.`,
      );
      continue;
    }
    const when = (at: Date | null) => (at === null ? "never" : formatDate(at.toISOString()));
    const ofUse = state.ofUse === null ? "" : `, ${state.ofUse} of them of use`;
    yield ok(
      `${name}: last capture ${when(state.lastCapture)}, last recall ${when(state.lastRecall)}, ${memoryCount(state.brought)} brought in ${COUNTED_DAYS} days${ofUse}`,
    );
  }
}
