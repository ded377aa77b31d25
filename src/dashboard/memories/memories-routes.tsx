/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Reach } from "../../keys/reach.ts";
import { orProblem } from "../../pages/page-response.tsx";
import type { PendingChange } from "../../undo/undoable.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { MemoriesPage, type Shown } from "./memories-page.tsx";
import { listRequest, listSources, readView, searchRequest, type View } from "./memories-view.ts";
import { leavingView } from "./pending-changes.tsx";
import { createProjectCounts } from "./project-switch.tsx";

/** The page for searching and browsing memories. */
export function addMemoriesPage({ pages, memories, keys, grants, live, undoable }: Parts): void {
  const find = async (
    reach: Reach,
    view: View,
    pending: readonly PendingChange[],
  ): Promise<Shown> => {
    const except = leavingView(pending, view);
    const filter = { ...listRequest({ ...view, cursor: "" }).filter, except };
    if (view.q !== "") {
      const request = { ...searchRequest(view), filter };
      const found = await memories.search(reach, request);
      const isEmpty = found.memories.length === 0 && request.known && filter.projects !== undefined;
      const elsewhere = isEmpty ? await memories.countElsewhere(reach, request) : 0;
      return { kind: "found", ...found, elsewhere };
    }
    const [page, total] = await Promise.all([
      memories.list(reach, { ...listRequest(view), filter }),
      memories.count(reach, filter),
    ]);
    // The memories of the last page may have been deleted since its link was made.
    const isPast = view.cursor !== "" && page.memories.length === 0;
    return isPast
      ? find(reach, { ...view, cursor: "" }, pending)
      : { kind: "list", ...page, total };
  };

  const countsOf = createProjectCounts({ memories });

  /** The projects and sources around the results; empty if the script requests only the results. */
  const surroundings = async ({ account, request }: Visit) => {
    if (request.headers.has("hx-request")) return { projects: [], sources: [] };
    const [projects, sources] = await Promise.all([
      countsOf(account.id),
      listSources({ keys, grants }, account),
    ]);
    return { projects, sources };
  };

  pages.get(PATHS.memories, async (visit) => {
    const view = readView(visit.url.searchParams);
    // Read before the memories, so that a write in between makes the page update itself.
    const position = await live.positionOf("memories", visit.account.id);
    const pending = await undoable.list(visit.account.id);
    const shared = { visit, view, position, pending, ...(await surroundings(visit)) };
    const { result, problem } = await orProblem(() => find(visit.reach, view, pending));
    return <MemoriesPage {...shared} shown={result} problem={problem} />;
  });
}
