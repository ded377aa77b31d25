/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Reach } from "../../keys/reach.ts";
import { PATHS } from "../navigation.tsx";
import { createPages } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";
import { growthOf, SPANS } from "./growth-chart.tsx";
import { type Event, OverviewPage } from "./overview-page.tsx";

/** The overview page. `?span=month`, `year` or `all` selects the period of the growth chart. */
export function createOverviewRoutes({ guard, activity, memories, live, clock }: Parts) {
  const lastSaved = async (reach: Reach): Promise<Event | null> => {
    const { memories: newest } = await memories.list(reach, { filter: {}, limit: 1 });
    const [memory] = newest;
    return memory ? { memory, at: new Date(memory.created_at) } : null;
  };
  const lastFound = async ({ account, reach }: Visit): Promise<Event | null> => {
    const found = await activity.lastFound(account.id);
    const memory = found && (await memories.find(reach, found.memoryId));
    return memory ? { memory, at: found.at } : null;
  };

  const pages = createPages(guard);
  pages.get(PATHS.overview, async (visit) => {
    const position = await live.positionOf("memories", visit.account.id);
    const [stats, saved, found] = await Promise.all([
      memories.stats(visit.reach),
      lastSaved(visit.reach),
      lastFound(visit),
    ]);
    const wanted = visit.url.searchParams.get("span");
    const span = SPANS.find((each) => each === wanted) ?? "all";
    const growth = growthOf(stats, span, clock());
    return (
      <OverviewPage
        visit={visit}
        position={position}
        stats={stats}
        growth={growth}
        span={span}
        lastSaved={saved}
        lastFound={found}
      />
    );
  });
  return pages.routes;
}
