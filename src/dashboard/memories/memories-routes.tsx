/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Reach } from "../../keys/reach.ts";
import { orProblem } from "../../pages/page-response.tsx";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { PendingChange } from "../../undo/undoable.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { pastDay } from "./as-of.tsx";
import { MemoriesPage, type Shown } from "./memories-page.tsx";
import {
  filterOf,
  listRequest,
  listSources,
  readView,
  searchRequest,
  type View,
} from "./memories-view.ts";
import type { Suggested } from "./memory-search-form.tsx";
import { leavingView } from "./pending-changes.tsx";
import { createProjectCounts } from "./project-switch.tsx";

/** Milliseconds that a page waits for suggestions, which a field can do without. */
const SUGGESTIONS_TIMEOUT_MS = 40;

/** The page for searching and browsing memories. */
export function addMemoriesPage({
  pages,
  memories,
  keys,
  grants,
  live,
  undoable,
  clock,
}: Parts): void {
  const find = async (
    reach: Reach,
    view: View,
    { pending, isTyped }: { pending: readonly PendingChange[]; isTyped: boolean },
  ): Promise<Shown> => {
    const except = leavingView(pending, view);
    const filter = { ...(await filterOf({ memories, clock }, reach, view)), except };
    if (view.q !== "") {
      const request = { ...searchRequest(view), filter, isTyped };
      const found = await memories.search(reach, request);
      const isEmpty = found.memories.length === 0 && request.known && filter.projects !== undefined;
      const elsewhere = isEmpty ? await memories.countElsewhere(reach, request) : 0;
      return { kind: "found", ...found, elsewhere };
    }
    const [page, total, all] = await Promise.all([
      memories.list(reach, { ...listRequest(view), filter }),
      memories.count(reach, filter),
      memories.count(reach, { ...filter, isCurrent: false }),
    ]);
    // The memories of the last page may have been deleted since its link was made.
    const isPast = view.cursor !== "" && page.memories.length === 0;
    return isPast
      ? find(reach, { ...view, cursor: "" }, { pending, isTyped })
      : { kind: "list", ...page, total, superseded: all - total };
  };

  const countsOf = createProjectCounts({ memories });

  /** Frequent tags and agents; none while they are being counted. */
  const suggestedTo = async (reach: Reach): Promise<Suggested> => {
    const stats = await withTimeLimit(memories.stats(reach), SUGGESTIONS_TIMEOUT_MS, () => null);
    return {
      tags: stats?.tags.map(({ tag }) => tag) ?? [],
      agents: stats?.agents.flatMap(({ agent_id }) => agent_id ?? []) ?? [],
    };
  };

  /** The projects, sources and suggestions around the results; mostly empty if the script requests only the results. */
  const surroundings = async ({ account, reach, place }: Visit, view: View, isPart: boolean) => {
    const [projects, sources, suggested] = await Promise.all([
      isPart ? [] : countsOf(reach.accountId),
      // The sources of a space are keys and apps of all its members.
      place?.space || (isPart && view.source === "") ? [] : listSources({ keys, grants }, account),
      isPart ? { tags: [], agents: [] } : suggestedTo(reach),
    ]);
    return { projects, sources, suggested };
  };

  pages.get(PATHS.memories, async (visit) => {
    const parameters = visit.url.searchParams;
    const view = { ...readView(parameters), as_of: pastDay(parameters, clock()) };
    // Read before the memories, so that a write in between makes the page update itself.
    const position = await live.positionOf("memories", visit.reach.accountId);
    const pending = await undoable.list(visit.reach.accountId);
    // Scripts request only the results, as somebody types or while memories change.
    const isPart = visit.request.headers.has("ctxd-part");
    const around = await surroundings(visit, view, isPart);
    const looked = { pending, isTyped: isPart };
    const { result, problem } = await orProblem(() => find(visit.reach, view, looked));
    const secrets = await memories.secrets.kindsIn(result?.memories ?? []);
    const shared = { visit, view, position, pending, secrets, ...around };
    return <MemoriesPage {...shared} shown={result} problem={problem} />;
  });
}
