/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import type { Activity } from "../activity/activity.ts";
import type { ActivityEvent } from "../activity/activity-store.ts";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import { ActivityPage, QUERIES_PATH, RANGES, USUAL_RANGE } from "./activity-page.tsx";
import { actorsOf, barsOf, firstDay } from "./activity-view.ts";
import { type Guard, PAGE_ROUTE } from "./guard.tsx";
import type { Live } from "./live.ts";
import { PATHS } from "./navigation.tsx";

/** Events on a page. */
const PAGE_SIZE = 30;

/** The page of who did what, and the setting of what is kept. */
export function createActivityRoutes({
  guard,
  activity,
  memories,
  live,
  clock,
}: {
  guard: Guard;
  activity: Activity;
  memories: Pick<Memories, "find">;
  live: Pick<Live, "positionOf">;
  clock: () => number;
}) {
  /** Beginnings of the memories that events name. */
  const namesOf = async (accountId: string, events: readonly ActivityEvent[]) => {
    const ids = [...new Set(events.flatMap(({ memoryId }) => memoryId ?? []))];
    const found = await Promise.all(ids.map((id) => memories.find(wholeAccount(accountId), id)));
    return new Map(found.flatMap((each) => (each ? [[each.id, lineOf(each.content)]] : [])));
  };

  return new Elysia()
    .get(
      PATHS.activity,
      ({ request }) =>
        guard.show(request, async (visit) => {
          const { id } = visit.account;
          const { searchParams } = visit.url;
          const days =
            RANGES.find((range) => `${range}` === searchParams.get("days")) ?? USUAL_RANGE;
          const before = readNumber(searchParams.get("before"));
          const since = firstDay(days, clock());
          // Before what it tells of: what comes meanwhile is asked for once more.
          const position = await live.positionOf("activity", id);
          const [daily, actors, listed, queriesSince] = await Promise.all([
            before === null ? activity.daily(id, since) : [],
            before === null ? activity.actors(id, since) : [],
            activity.list(id, { limit: PAGE_SIZE + 1, before }),
            activity.queriesSince(id),
          ]);
          const events = listed.slice(0, PAGE_SIZE);
          return (
            <ActivityPage
              {...{ visit, days, before, events, queriesSince, position }}
              bars={barsOf(daily, days, clock())}
              actors={actorsOf(actors, id)}
              names={await namesOf(id, events)}
              next={listed.length > PAGE_SIZE ? (events.at(-1)?.id ?? null) : null}
            />
          );
        }),
      PAGE_ROUTE,
    )
    .post(
      QUERIES_PATH,
      ({ request }) =>
        guard.act(request, async ({ account }, form) => {
          const isKept = form.get("keep") === "yes";
          await activity.keepQueries(account.id, isKept);
          const notice = isKept
            ? "From now on, what is asked is kept."
            : "What was asked is removed, and not kept any more.";
          return { to: PATHS.activity, notice };
        }),
      PAGE_ROUTE,
    );
}

/** The beginning of a text on one line: more than fits beside it. */
function lineOf(content: string): string {
  return [...content.slice(0, 400)].slice(0, 200).join("").replaceAll(/\s+/g, " ").trim();
}

/** The id in an address; null for none, and for what is none. */
function readNumber(text: string | null): number | null {
  const number = Number(text);
  return text !== null && Number.isSafeInteger(number) && number > 0 ? number : null;
}
