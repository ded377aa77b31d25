/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Activity } from "../../activity/activity.ts";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { type Guard, PAGE_ROUTE } from "../guard.tsx";
import type { Live } from "../live/live.ts";
import { PATHS } from "../navigation.tsx";
import { growthOf, SPANS } from "./growth-chart.tsx";
import { type Event, OverviewPage } from "./overview-page.tsx";

/** The overview page. `?span=month`, `year` or `all` selects the period of the growth chart. */
export function createOverviewRoutes({
  guard,
  activity,
  memories,
  live,
  clock,
}: {
  guard: Guard;
  activity: Pick<Activity, "lastFound">;
  live: Pick<Live, "positionOf">;
  memories: Pick<Memories, "find" | "list" | "stats">;
  clock: () => number;
}) {
  const lastSaved = async (accountId: string): Promise<Event | null> => {
    const { memories: newest } = await memories.list(wholeAccount(accountId), {
      filter: {},
      limit: 1,
    });
    const [memory] = newest;
    return memory ? { memory, at: new Date(memory.created_at) } : null;
  };
  const lastFound = async (accountId: string): Promise<Event | null> => {
    const found = await activity.lastFound(accountId);
    const memory = found && (await memories.find(wholeAccount(accountId), found.memoryId));
    return memory ? { memory, at: found.at } : null;
  };

  return new Elysia().get(
    PATHS.overview,
    ({ request }) =>
      guard.show(request, async (visit) => {
        const { id } = visit.account;
        const position = await live.positionOf("memories", id);
        const [stats, saved, found] = await Promise.all([
          memories.stats(wholeAccount(id)),
          lastSaved(id),
          lastFound(id),
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
      }),
    PAGE_ROUTE,
  );
}
