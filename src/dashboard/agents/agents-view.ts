import type { Keys } from "../../keys/keys.ts";
import { keyFacts } from "../../keys/keys.ts";
import { toBound } from "../../keys/reach.ts";
import { FULL_ACCESS } from "../../keys/scopes.ts";
import { type Grants, grantFacts } from "../../oauth/grants.ts";
import { createPause } from "../../timing/pause.ts";
import type { AgentState } from "../../uses/agent-states.ts";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import type { Actor } from "../activity/activity-view.ts";
import { LOCAL_SOURCE_NAME } from "../memories/memories-view.ts";

/** What lets agents use the memories of an account: a key, an app's grant, or the local socket. */
export type Access = Awaited<ReturnType<ReturnType<typeof createAccessList>>>[number];

/**
 * Makes a function that lists the access of an account, including revoked keys and disconnected apps. With an id it lists
 * at most this one: an account may have many.
 */
export function createAccessList({
  keys,
  grants,
}: {
  keys: Pick<Keys, "list">;
  grants: Pick<Grants, "list">;
}) {
  return async (accountId: string, id?: string) => {
    const pause = createPause();
    const isWanted = (each: { id: string }) => id === undefined || each.id === id;
    const ofKeys = (await keys.list(accountId)).filter(isWanted).map((key) => ({
      ...key,
      kind: "key" as const,
      returnsTo: null,
      facts: () => keyFacts(key),
    }));
    await pause();
    const ofApps = (await grants.list(accountId)).filter(isWanted).map((grant) => ({
      ...grant,
      kind: "app" as const,
      name: grant.clientName,
      returnsTo: grant.redirectHost,
      bound: toBound(grant),
      facts: () => grantFacts(grant),
    }));
    await pause();
    const local = {
      ...{ kind: "local" as const, id: LOCAL_SOURCE_ID, name: LOCAL_SOURCE_NAME },
      ...{ scopes: FULL_ACCESS, bound: null, spaceId: null, returnsTo: null },
      ...{ lastUsedAt: null, expiresAt: null, revokedAt: null, pausedAt: null },
      facts: () => ({ accountId, subjectId: LOCAL_SOURCE_ID }),
    };
    return [...[local].filter(isWanted), ...ofKeys, ...ofApps];
  };
}

/** Whether the access was neither revoked nor has expired. @param now milliseconds since 1970 */
export function isActive({ revokedAt, expiresAt }: Access, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
}

/** An agent, or an access that no agent has used by its name. */
export interface Agent {
  readonly access: Access;
  /** What it has done; null for nothing. */
  readonly done: Actor | null;
  /** What it brought, and whether it seems to be broken; null if it did nothing. */
  readonly state: AgentState | null;
  readonly lastAt: Date | null;
}

/** The agents that use each access, the last seen first, and those that nobody has used at the end. */
export function agentsOf(
  list: readonly Access[],
  actors: readonly Actor[],
  states: readonly AgentState[],
): Agent[] {
  const bySource = Map.groupBy(actors, ({ sourceId }) => sourceId);
  const timeOf = (at: Date | null) => at?.getTime() ?? 0;
  return list
    .flatMap((access): Agent[] => {
      const { lastUsedAt } = access;
      const own = bySource.get(access.id) ?? [];
      if (own.length === 0) return [{ access, done: null, state: null, lastAt: lastUsedAt }];
      return own.map((done) => {
        const isLater = own.length === 1 && timeOf(lastUsedAt) > timeOf(done.lastAt);
        const state = states.find(
          ({ sourceId, agent }) => sourceId === access.id && agent === done.agent,
        );
        return { access, done, state: state ?? null, lastAt: isLater ? lastUsedAt : done.lastAt };
      });
    })
    .sort((a, b) => timeOf(b.lastAt) - timeOf(a.lastAt));
}
