import { ASKING, dayOf, type Kind } from "../activity/action.ts";
import type { ActivityEvent, ActorCount, DayCount } from "../activity/activity-store.ts";
import { viewPath } from "./memories-view.ts";
import { LOCAL_SOURCE_ID, LOCAL_SOURCE_NAME } from "./memory-sources.ts";

const DAY = 86_400_000;
/** Milliseconds in which what one agent does again is told as one. */
const TOGETHER = 10 * 60_000;
const SAVING: readonly Kind[] = ["saved", "captured", "imported"];

/** Bars that can be told apart; of more days, each is a week. */
const MOST_BARS = 40;

/** What was saved and asked in a day or a week. */
export interface Bar {
  /** The first day of it, in UTC. */
  readonly day: string;
  /** Memories. */
  readonly saved: number;
  /** Questions. */
  readonly asked: number;
}

/** Bars of the last days, the oldest first, also of those on which nothing was done. */
export function barsOf(daily: readonly DayCount[], days: number, now: number): Bar[] {
  const length = days > MOST_BARS ? 7 : 1;
  const bars = Array.from({ length: Math.ceil(days / length) }, (_, place) => {
    const ago = Math.min(days - 1, (place + 1) * length - 1);
    return { day: dayOf(now - ago * DAY), saved: 0, asked: 0 };
  });
  const today = Date.parse(dayOf(now));
  for (const { day, kind, times, memories } of daily) {
    const bar = bars[Math.floor((today - Date.parse(day)) / DAY / length)];
    if (!bar) continue;
    if (SAVING.includes(kind)) bar.saved += memories;
    if (ASKING.includes(kind)) bar.asked += times;
  }
  return bars.reverse();
}

/** The first of so many days up to now. */
export function firstDay(days: number, now: number): string {
  return dayOf(now - (days - 1) * DAY);
}

/** Who has done something, and all that it was. */
export interface Actor {
  readonly name: string;
  /** By which key or app, where an agent has said its name. */
  readonly by: string | null;
  /** Where what they saved is listed. */
  readonly href: string;
  readonly saved: number;
  readonly asked: number;
  /** How many of those that asked found something. */
  readonly found: number;
  readonly lastAt: Date;
}

/** Those who were active, the most recent first. */
export function actorsOf(counts: readonly ActorCount[], accountId: string): Actor[] {
  const actors = new Map<string, Actor>();
  for (const count of counts) {
    const { sourceId, agent, kind, times, memories, inVain, lastAt } = count;
    const id = JSON.stringify([sourceId, agent]);
    const known = actors.get(id) ?? { saved: 0, asked: 0, found: 0, lastAt };
    const asked = ASKING.includes(kind) ? times : 0;
    const isLater = lastAt.getTime() > known.lastAt.getTime();
    actors.set(id, {
      ...namesOf(count, accountId),
      href: viewPath(agent === null ? { source: sourceId } : { agent_id: agent }),
      saved: known.saved + (SAVING.includes(kind) ? memories : 0),
      asked: known.asked + asked,
      found: known.found + (asked > 0 ? asked - inVain : 0),
      lastAt: isLater ? lastAt : known.lastAt,
    });
  }
  return [...actors.values()].sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
}

/** How whoever did something is called. */
export function namesOf(
  { sourceId, source, agent }: Pick<ActivityEvent, "sourceId" | "source" | "agent">,
  accountId: string,
): Pick<Actor, "name" | "by"> {
  const isLocal = sourceId === LOCAL_SOURCE_ID;
  const by = sourceId === accountId ? "You" : source;
  if (agent === null) return { name: isLocal ? LOCAL_SOURCE_NAME : by, by: null };
  return { name: agent, by: isLocal ? "on this machine" : by };
}

/** Events of one list, newest first, where what one agent did again and again is one. */
export function grouped(events: readonly ActivityEvent[]): ActivityEvent[] {
  const groups: ActivityEvent[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && isAlike(last, event)) {
      groups[groups.length - 1] = {
        ...last,
        times: last.times + event.times,
        inVain: last.inVain + event.inVain,
        memories: last.memories + event.memories,
        memoryId: last.memoryId ?? event.memoryId,
      };
    } else groups.push(event);
  }
  return groups;
}

function isAlike(a: ActivityEvent, b: ActivityEvent): boolean {
  return (
    a.kind === b.kind &&
    a.sourceId === b.sourceId &&
    a.agent === b.agent &&
    a.query === b.query &&
    Math.abs(a.at.getTime() - b.at.getTime()) < TOGETHER
  );
}

/** What an event was, in words: `saved 3 memories`. */
export function saidOf({ kind, times, memories, inVain }: ActivityEvent): string {
  const all = memories === 1 ? "a memory" : `${memories.toLocaleString("en")} memories`;
  const often = times === 1 ? "" : times === 2 ? " twice" : ` ${times.toLocaleString("en")} times`;
  const found = inVain === times ? "found nothing" : `found ${all}`;
  switch (kind) {
    case "searched":
      return `searched${often}, ${found}`;
    case "recalled":
      return `recalled what is known${often}, ${found}`;
    case "captured":
      return `captured ${memories === 1 ? "a turn" : `${memories.toLocaleString("en")} turns`}`;
    default:
      return `${kind} ${all}`;
  }
}
