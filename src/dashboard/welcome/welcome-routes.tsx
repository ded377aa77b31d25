/** @jsxRuntime automatic @jsxImportSource #pages */
import { findClient } from "../../connect/clients.ts";
import { orProblem } from "../../pages/page-response.tsx";
import {
  LOCAL_SOURCE_ID,
  LOCAL_SOURCE_NAME,
  readView,
  searchRequest,
} from "../memories/memories-view.ts";
import {
  MAX_FORM,
  NOTHING_ENTERED,
  newMemoryOf,
  readEntries,
  secretNotice,
} from "../memory/memory-form.ts";
import type { Parts } from "../parts.ts";
import { connectCommand } from "../server-status.ts";
import { ownSource, type Visit } from "../session.ts";
import {
  type Asked,
  AskStep,
  type ConnectedAgent,
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
  const { pages, memories, keys, grants, lastAgents } = parts;

  /**
   * The agent that connected last. If none has since the server's start, it is the last key or app that was used, or
   * the agents on this machine if they have written memories.
   */
  const lastConnected = async ({ account, reach }: Visit): Promise<ConnectedAgent | null> => {
    const latest = lastAgents.last(account.id);
    if (latest) return { ...latest, name: findClient(latest.name ?? "")?.name ?? latest.name };
    const [ofKeys, ofApps] = await Promise.all([keys.list(account.id), grants.list(account.id)]);
    const used = [
      ...ofKeys.map(({ name, lastUsedAt }) => ({ name, at: lastUsedAt })),
      ...ofApps.map(({ clientName, lastUsedAt }) => ({ name: clientName, at: lastUsedAt })),
    ].flatMap(({ name, at }) => (at ? [{ name, at }] : []));
    const [newest] = used.sort((a, b) => b.at.getTime() - a.at.getTime());
    if (newest) return newest;
    const written = await memories.count(reach, { sourceId: LOCAL_SOURCE_ID });
    return written > 0 ? { name: LOCAL_SOURCE_NAME, at: null } : null;
  };

  const ask = async (visit: Visit): Promise<Asked | null> => {
    const query = visit.url.searchParams.get("q")?.trim() ?? "";
    if (query === "") return null;
    const { memories: found, mode } = await memories.search(visit.reach, {
      ...searchRequest(readView(new URLSearchParams({ q: query }))),
      limit: MAX_RESULTS,
    });
    return { query, found, mode };
  };

  pages.get(STEPS.connect, async (visit) => (
    <ConnectStep
      visit={visit}
      {...connectCommand(parts, visit.account, "connect --all")}
      arrival={await lastConnected(visit)}
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
