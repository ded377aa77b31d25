/** @jsxRuntime automatic @jsxImportSource #pages */

import { KEPT_DAYS } from "../../activity/activity.ts";
import type { ActivityEvent } from "../../activity/activity-reports.ts";
import { LIVE } from "../../pages/assets.ts";
import { ButtonLink } from "../../pages/button.tsx";
import { Fragment, type Markup } from "../../pages/jsx-runtime.ts";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import { percent } from "../../text/number-text.ts";
import { memoryPath, PATHS, Tabs } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";
import { ActivityChart } from "./activity-chart.tsx";
import { Queries, UseCounting } from "./activity-settings.tsx";
import { type Actor, type Bar, describeEvent, groupEvents, namesOf } from "./activity-view.ts";

/** Choices for the number of days shown. */
export const RANGES = [7, 30, KEPT_DAYS] as const;
type Range = (typeof RANGES)[number];
export const DEFAULT_RANGE: Range = 30;

/** Agents listed in the summary. */
const MAX_ACTORS = 15;

/** The address of the page. Defaults are left out. */
function activityPath({ days, before }: { days: Range; before?: number | null }): string {
  const parameters = new URLSearchParams();
  if (days !== DEFAULT_RANGE) parameters.set("days", `${days}`);
  if (before) parameters.set("before", `${before}`);
  return parameters.size > 0 ? `${PATHS.activity}?${parameters}` : PATHS.activity;
}

interface Activity {
  days: Range;
  bars: readonly Bar[];
  actors: readonly Actor[];
  /** The newest first. */
  events: readonly ActivityEvent[];
  /** Titles of the memories that events refer to, by id. Deleted memories are missing. */
  names: ReadonlyMap<string, string>;
  /** Only events before this id are shown; null shows the newest. */
  before: number | null;
  /** The `before` of the next page; null if there are no older events. */
  next: number | null;
}

/** The activity page: who saved, searched and found memories, and when. */
export function ActivityPage({
  visit,
  position,
  queriesSince,
  usesSince,
  ...activity
}: Activity & {
  visit: Visit;
  /** The position of the activity, from which the page follows changes. */
  position: string;
  /** When the account began to keep questions; null if it does not keep them. */
  queriesSince: Date | null;
  /** When the account began to count finds; null if it counts none. */
  usesSince: Date | null;
}) {
  const { actors, events, before } = activity;
  const isEmpty = actors.length === 0 && events.length === 0;
  return (
    <Page
      visit={visit}
      section="activity"
      title="Activity"
      lead="Who saved, searched and found memories."
      assets={[LIVE]}
    >
      <div
        id="activity"
        data-live={before === null ? "activity" : undefined}
        data-live-at={position}
        data-live-noun="event"
      >
        {isEmpty ? (
          <Nothing />
        ) : (
          <>
            {before === null && <Summary {...activity} />}
            <Events visit={visit} {...activity} />
          </>
        )}
      </div>
      {!visit.place?.space && [
        <Queries visit={visit} since={queriesSince} />,
        <UseCounting visit={visit} since={usesSince} />,
      ]}
    </Page>
  );
}

function Nothing() {
  return (
    <EmptyState title="Nothing has happened yet">
      <p>
        When an agent saves, searches or recalls memories, this page shows which agent it was, when,
        and what it found.
      </p>
      <div class="actions">
        <ButtonLink href={PATHS.connect} kind="main">
          Connect an agent
        </ButtonLink>
      </div>
    </EmptyState>
  );
}

function Summary({ days, bars, actors }: Pick<Activity, "days" | "bars" | "actors">) {
  const unit = bars.length < days ? "week" : "day";
  return (
    <>
      <section class="panel" aria-labelledby="by-day">
        <div class="activity-chart-head spread">
          <h2 id="by-day">By {unit}</h2>
          <Tabs
            label="Days shown"
            of="views"
            tabs={RANGES.map((range) => [activityPath({ days: range }), `${range} days`])}
            current={activityPath({ days })}
          />
        </div>
        <ActivityChart
          unit={unit}
          bars={bars}
          found={actors.reduce((sum, { found }) => sum + found, 0)}
        />
      </section>
      {actors.length > 0 && (
        <section class="activity-actors" aria-labelledby="by-agent">
          <h2 id="by-agent">By agent</h2>
          <Table
            caption="Active agents"
            rows={actors.slice(0, MAX_ACTORS)}
            columns={[
              { title: "Agent", cell: (actor) => <ActorName {...actor} /> },
              { title: "Saved", isNumber: true, cell: ({ saved }) => amount(saved) },
              { title: "Asked", isNumber: true, cell: ({ asked }) => amount(asked) },
              {
                title: "Found something",
                isNumber: true,
                cell: ({ asked, found }) => (asked === 0 ? amount(0) : percent(found / asked)),
              },
              { title: "Last active", cell: ({ lastAt }) => <Moment at={lastAt} /> },
            ]}
          />
          {actors.length > MAX_ACTORS && (
            <p class="faint">{`and ${actors.length - MAX_ACTORS} more`}</p>
          )}
        </section>
      )}
    </>
  );
}

/** A number, or a dash for 0. */
export function amount(number = 0): Markup | string {
  return number === 0 ? <span class="faint">–</span> : number.toLocaleString("en");
}

function ActorName({ name, by, href }: Pick<Actor, "name" | "by" | "href">) {
  return (
    <span class="activity-actor">
      <a href={href}>
        <bdi>{name}</bdi>
      </a>
      {by !== null && (
        <span class="faint">
          {" "}
          <bdi>{by}</bdi>
        </span>
      )}
    </span>
  );
}

function Events({
  visit,
  events,
  names,
  days,
  before,
  next,
}: { visit: Visit } & Omit<Activity, "bars" | "actors">) {
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">{before === null ? "Latest" : "Earlier"}</h2>
      <ol class="activity-events">
        {groupEvents(events).map((event) => (
          <li data-id={event.id}>
            <span>
              <bdi class="activity-actor">{namesOf(event, visit.account.id).name}</bdi>{" "}
              {describeEvent(event)}
              {event.query !== null && (
                <>
                  {" for "}
                  <q>
                    <bdi>{event.query}</bdi>
                  </q>
                </>
              )}
            </span>
            <Moment at={event.at} />
            <MemoryLink id={event.memoryId} names={names} />
          </li>
        ))}
      </ol>
      {(before !== null || next !== null) && (
        <nav class="pager" aria-label="Pages of events">
          {before !== null && (
            <ButtonLink href={activityPath({ days })}>Back to the newest</ButtonLink>
          )}
          {next !== null && (
            <ButtonLink href={activityPath({ days, before: next })}>Older</ButtonLink>
          )}
        </nav>
      )}
    </section>
  );
}

/** A link to the best memory that was found or the last one that was written, if it still exists. */
function MemoryLink({ id, names }: Pick<Activity, "names"> & { id: string | null }) {
  const name = id === null ? undefined : names.get(id);
  if (id === null || name === undefined) return Fragment({});
  return (
    <a class="activity-event-memory one-line" href={memoryPath(id)}>
      <bdi>{name}</bdi>
    </a>
  );
}
