import type { Database as Sqlite } from "bun:sqlite";
import { dayOf } from "../activity/action.ts";
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

/**
 * Tells what each agent brought, and warns about those whose capture or recall seems to be broken.
 * @param capturing agents of this machine whose hooks capture
 */
export function* checkCaptures(
  sqlite: Sqlite,
  { now, capturing }: { now: number; capturing: readonly string[] },
): Generator<Finding> {
  const { ok, warning } = findingsOf("activity");
  const from = now - (COUNTED_DAYS - 1) * DAY;
  const isThere = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'memory_uses'").get();
  // The next start migrates an earlier version.
  if (!isThere) return;
  const days = sqlite
    .query<Row<Omit<AgentDay, "lastAt">> & { lastAt: number }, [string]>(
      `SELECT account_id AS accountId, source_id AS sourceId, agent, kind, day, times, memories, last_at AS lastAt
       FROM activity_days WHERE day >= ?`,
    )
    .all(dayOf(from));
  const ofUse = sqlite
    .query<Row<OfUse>, [number]>(
      `SELECT account_id AS accountId, source_id AS sourceId, agent, count(*) AS memories
       FROM memory_uses WHERE created_at >= ? GROUP BY 1, 2, 3`,
    )
    .all(from);
  const access = sqlite
    .query<{ id: string; name: string; isPaused: number }, [number]>(
      `SELECT id, name, paused_at IS NOT NULL AS isPaused FROM api_keys
         WHERE revoked_at IS NULL AND coalesce(expires_at, ?1 + 1) > ?1
       UNION ALL SELECT id, client_name, paused_at IS NOT NULL FROM oauth_grants
         WHERE revoked_at IS NULL AND coalesce(expires_at, ?1 + 1) > ?1`,
    )
    .all(now);
  const machines = [
    { id: LOCAL_SOURCE_ID, name: "this machine", isPaused: false },
    ...access.map((each) => ({ ...each, isPaused: each.isPaused === 1 })),
  ];
  const states = [...Map.groupBy(days, ({ accountId }) => accountId)].flatMap(([id, own]) =>
    agentStates(
      own.map((day) => ({ ...day, lastAt: new Date(day.lastAt) })),
      { machines, ofUse: ofUse.filter(({ accountId }) => accountId === id), capturing, now },
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
    yield ok(
      `${name}: last capture ${when(state.lastCapture)}, last recall ${when(state.lastRecall)}, ${state.brought} memories brought in ${COUNTED_DAYS} days, ${state.ofUse} of them of use`,
    );
  }
}
