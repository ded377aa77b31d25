/** @jsxRuntime automatic @jsxImportSource #pages */
import type { ActivityEvent } from "../../activity/activity-reports.ts";
import type { Reach } from "../../keys/reach.ts";
import { excerptOf } from "../../text/excerpt.ts";
import { createPause } from "../../timing/pause.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { ActivityPage, DEFAULT_RANGE, RANGES } from "./activity-page.tsx";
import { addActivitySettings } from "./activity-settings.tsx";
import { actorsOf, barsOf, firstDay } from "./activity-view.ts";

/** Events per page. */
const PAGE_SIZE = 30;
/** Characters of a memory that an event refers to. */
const EXCERPT = 160;

/** The activity page, and the settings for kept questions and counted finds. */
export function addActivityPage({ pages, activity, uses, memories, live, clock }: Parts): void {
  const titlesOf = async (reach: Reach, events: readonly ActivityEvent[]) => {
    const ids = [...new Set(events.flatMap(({ memoryId }) => memoryId ?? []))];
    const found = await Promise.all(ids.map((id) => memories.find(reach, id)));
    return new Map(
      found.flatMap((each) => (each ? [[each.id, excerptOf(each.content, EXCERPT)]] : [])),
    );
  };

  pages.get(PATHS.activity, async (visit) => {
    const { accountId: id } = visit.reach;
    const { searchParams } = visit.url;
    const days = RANGES.find((range) => `${range}` === searchParams.get("days")) ?? DEFAULT_RANGE;
    const before = readId(searchParams.get("before"));
    const since = firstDay(days, clock());
    // Read before the activity, so that an event in between makes the page update itself.
    const position = await live.positionOf("activity", id);
    const pause = createPause();
    const daily = before === null ? await activity.daily(id, since) : [];
    await pause();
    const actors = before === null ? await activity.actors(id, since) : [];
    await pause();
    const listed = await activity.list(id, { limit: PAGE_SIZE + 1, before });
    const events = listed.slice(0, PAGE_SIZE);
    return (
      <ActivityPage
        visit={visit}
        days={days}
        before={before}
        events={events}
        queriesSince={await activity.queriesSince(id)}
        usesSince={await uses.since(id)}
        position={position}
        bars={barsOf(daily, days, clock())}
        actors={actorsOf(actors, visit.account.id)}
        names={await titlesOf(visit.reach, events)}
        next={listed.length > PAGE_SIZE ? (events.at(-1)?.id ?? null) : null}
      />
    );
  });
  addActivitySettings(pages, { activity, uses });
}

/** An event id from the address; null if there is none or it is not valid. */
function readId(text: string | null): number | null {
  const number = Number(text);
  return text !== null && Number.isSafeInteger(number) && number > 0 ? number : null;
}
