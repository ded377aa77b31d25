import { dayOf } from "../activity/action.ts";
import type { Activity } from "../activity/activity.ts";
import type { Keys } from "../keys/keys.ts";
import type { Grants } from "../oauth/grants.ts";
import { createPause } from "../timing/pause.ts";
import {
  type AgentState,
  agentStates,
  COUNTED_DAYS,
  LOCAL_SOURCE_ID,
  type Machine,
} from "./agent-states.ts";
import type { Uses } from "./uses.ts";

const DAY = 86_400_000;

/** Makes a function that tells what each agent of an account brought, and what seems to be broken; see `agentStates`. */
export function createAgentReports({
  activity,
  uses,
  keys,
  grants,
  clock,
  capturing,
}: {
  activity: Pick<Activity, "days">;
  uses: Pick<Uses, "ofUse">;
  keys: Pick<Keys, "list">;
  grants: Pick<Grants, "list">;
  clock: () => number;
  /** Ids of the agents of this machine whose hooks capture. */
  capturing: () => Promise<readonly string[]>;
}) {
  return async (accountId: string): Promise<AgentState[]> => {
    const now = clock();
    const from = now - (COUNTED_DAYS - 1) * DAY;
    const pause = createPause();
    const days = await activity.days(accountId, dayOf(from));
    if (days.length === 0) return [];
    await pause();
    const ofUse = await uses.ofUse(accountId, from);
    await pause();
    const isActive = (each: { revokedAt: Date | null; expiresAt: Date | null }) =>
      each.revokedAt === null && (each.expiresAt?.getTime() ?? Infinity) > now;
    const ofKeys = (await keys.list(accountId)).filter(isActive);
    const ofApps = (await grants.list(accountId)).filter(isActive);
    const machines: Machine[] = [
      { id: LOCAL_SOURCE_ID, name: "this machine", isPaused: false },
      ...ofKeys.map(({ id, name, pausedAt }) => ({ id, name, isPaused: pausedAt !== null })),
      ...ofApps.map(({ id, clientName: name, pausedAt }) => ({
        ...{ id, name },
        isPaused: pausedAt !== null,
      })),
    ];
    await pause();
    // Reading the agents' settings takes time.
    const isLocal = days.some(({ sourceId }) => sourceId === LOCAL_SOURCE_ID);
    return agentStates(days, { machines, ofUse, capturing: isLocal ? await capturing() : [], now });
  };
}
