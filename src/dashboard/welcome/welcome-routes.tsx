/** @jsxRuntime automatic @jsxImportSource #pages */

import { KEPT_DAYS } from "../../activity/activity.ts";
import { orProblem } from "../../pages/page-response.tsx";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import { actorsOf, agentName, firstDay } from "../activity/activity-view.ts";
import { LOCAL_SOURCE_NAME, readView, searchRequest } from "../memories/memories-view.ts";
import {
  MAX_FORM,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
  secretNotice,
} from "../memory/memory-form.ts";
import type { Parts } from "../parts.ts";
import { connectCommand, HOOK_OPTIONS } from "../server-status.ts";
import { ownSource, type Visit } from "../session.ts";
import {
  type Arrival,
  type Asked,
  AskStep,
  ConnectStep,
  SaveStep,
  STEPS,
} from "./welcome-page.tsx";

const MAX_RESULTS = 3;

/**
 * The first steps on a new server: connect an agent, save a memory, find it again. Everyone who is signed in can take
 * them and leave them at any time. The server does not store which step a person has reached.
 */
export function addWelcomePages(parts: Parts): void {
  const { pages, memories, keys, grants, activity, lastAgents, clock } = parts;

  /**
   * The agent that connected last, or else the last request. After a start, that is an agent of the activity or an app
   * that was used, and a key that was used or agents of this machine that have written memories.
   */
  const lastArrival = async ({ account, reach }: Visit): Promise<Arrival | null> => {
    const latest = lastAgents.last(account.id);
    if (latest?.isAgent) return { ...latest, name: agentName(latest.name) };
    const since = firstDay(KEPT_DAYS, clock());
    const [ofKeys, ofApps, counts] = await Promise.all([
      keys.list(account.id),
      grants.list(account.id),
      activity.actors(account.id, since),
    ]);
    const named = actorsOf(counts, account.id).filter(({ agent }) => agent !== null);
    const agent = newestOf([
      ...named.map(({ agent, lastAt }) => ({ name: agentName(agent), at: lastAt })),
      ...ofApps.map(({ clientName, lastUsedAt }) => ({ name: clientName, at: lastUsedAt })),
    ]);
    if (agent) return { ...agent, by: null, isAgent: true };
    if (latest) return latest;
    const used = newestOf(ofKeys.map(({ name, lastUsedAt }) => ({ by: name, at: lastUsedAt })));
    if (used) return { ...used, name: null, isAgent: false };
    const written = await memories.count(reach, { sourceId: LOCAL_SOURCE_ID });
    return written > 0 ? { name: LOCAL_SOURCE_NAME, by: null, at: null, isAgent: true } : null;
  };

  const ask = async (visit: Visit): Promise<Asked | null> => {
    const query = visit.url.searchParams.get("q")?.trim() ?? "";
    if (query === "") return null;
    const { memories: found, mode } = await memories.search(visit.reach, {
      ...searchRequest(readView(new URLSearchParams({ q: query }))),
      filter: { isCurrent: true },
      limit: MAX_RESULTS,
    });
    return { query, found, mode };
  };

  pages.get(STEPS.connect, async (visit) => (
    <ConnectStep
      visit={visit}
      {...connectCommand(parts, visit.account, "connect --all")}
      withHooks={connectCommand(parts, visit.account, `connect --all ${HOOK_OPTIONS}`).command}
      arrival={await lastArrival(visit)}
    />
  ));
  pages.get(STEPS.save, (visit) => <SaveStep visit={visit} />);
  pages.post(
    STEPS.save,
    async ({ account, reach }, form) => {
      const input = newMemoryOf({ ...readEntries(form), importance: NOTHING_ENTERED.importance });
      const source = ownSource(account);
      const { memory } = await memories.save(reach, input, { source });
      const notice = secretNotice(memories, input).trim();
      const to = `${STEPS.ask}?${new URLSearchParams({ saved: memory.id })}`;
      return { to, ...(notice !== "" && { notice }) };
    },
    (visit, problem, form) => (
      <SaveStep visit={visit} content={form.get("content") ?? ""} problem={problem} />
    ),
    MAX_FORM,
  );
  pages.get(STEPS.ask, async (visit) => {
    const id = visit.url.searchParams.get("saved") ?? "";
    const saved = id === "" ? null : await memories.find(visit.reach, id);
    const { result, problem } = await orProblem(() => ask(visit));
    return <AskStep visit={visit} saved={saved} asked={result} problem={problem} />;
  });
}

/** The one with the latest time; undefined if none has a time. */
function newestOf<Row extends { at: Date | null }>(rows: readonly Row[]): Row | undefined {
  const timed = rows.filter(({ at }) => at !== null);
  return timed.sort((a, b) => (b.at?.getTime() ?? 0) - (a.at?.getTime() ?? 0))[0];
}
