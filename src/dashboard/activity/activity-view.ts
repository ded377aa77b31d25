import { addCounts, dayOf, type Kind, QUESTIONS } from "../../activity/action.ts";
import type { ActivityEvent, ActorCount, DayCount } from "../../activity/activity-reports.ts";
import { findClient } from "../../connect/clients.ts";
import { LOCAL_SOURCE_ID } from "../../uses/agent-states.ts";
import { LOCAL_SOURCE_NAME, viewPath } from "../memories/memories-view.ts";

const DAY = 86_400_000;
/** Milliseconds within which equal actions of one agent are shown as one event. */
const GROUPING_MS = 10 * 60_000;
const SAVING: readonly Kind[] = ["saved", "captured", "imported"];

/** The most bars that are readable. If there are more days, each bar is a week. */
const MAX_BARS = 40;

export type Bar = ReturnType<typeof barsOf>[number];

/**
 * How much was saved and asked (searches and recalls) in each of the last days or weeks, oldest first, including those
 * without activity. `day` is the first day, in UTC.
 */
export function barsOf(daily: readonly DayCount[], days: number, now: number) {
  const length = days > MAX_BARS ? 7 : 1;
  const bars = Array.from({ length: Math.ceil(days / length) }, (_, index) => {
    const ago = Math.min(days - 1, (index + 1) * length - 1);
    return { day: dayOf(now - ago * DAY), saved: 0, asked: 0 };
  });
  const today = Date.parse(dayOf(now));
  for (const { day, kind, times, memories } of daily) {
    const bar = bars[Math.floor((today - Date.parse(day)) / DAY / length)];
    if (!bar) continue;
    if (SAVING.includes(kind)) bar.saved += memories;
    if (QUESTIONS.includes(kind)) bar.asked += times;
  }
  return bars.reverse();
}

/** The first of the last `days` days, in UTC. */
export function firstDay(days: number, now: number): string {
  return dayOf(now - (days - 1) * DAY);
}

/** A source with its agent, and what they have done. */
export interface Actor extends Pick<ActorCount, "sourceId" | "agent"> {
  readonly name: string;
  /** The key or app, if `name` is the agent's. */
  readonly by: string | null;
  /** The list of the memories that they saved. */
  readonly href: string;
  readonly saved: number;
  readonly asked: number;
  /** Questions that found something. */
  readonly found: number;
  /** The number of memories that questions found. */
  readonly brought: number;
  readonly kinds: readonly Kind[];
  readonly lastAt: Date;
}

/** The active sources and agents, most recent first. */
export function actorsOf(counts: readonly ActorCount[], accountId: string): Actor[] {
  const actors = new Map<string, Actor>();
  for (const count of counts) {
    const { sourceId, agent, kind, times, memories, inVain, lastAt } = count;
    const id = JSON.stringify([sourceId, agent]);
    const nothing = { saved: 0, asked: 0, found: 0, brought: 0, kinds: [], lastAt };
    const known = actors.get(id) ?? nothing;
    const asked = QUESTIONS.includes(kind) ? times : 0;
    const isLater = lastAt.getTime() > known.lastAt.getTime();
    actors.set(id, {
      ...namesOf(count, accountId),
      sourceId,
      agent,
      href: viewPath(agent === null ? { source: sourceId } : { agent_id: agent }),
      saved: known.saved + (SAVING.includes(kind) ? memories : 0),
      asked: known.asked + asked,
      found: known.found + (asked > 0 ? asked - inVain : 0),
      brought: known.brought + (asked > 0 ? memories : 0),
      kinds: [...known.kinds, kind],
      lastAt: isLater ? lastAt : known.lastAt,
    });
  }
  return [...actors.values()].sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
}

/** The names of an action's source and agent. */
export function namesOf(
  { sourceId, source, agent }: Pick<ActivityEvent, "sourceId" | "source" | "agent">,
  accountId: string,
): Pick<Actor, "name" | "by"> {
  const isLocal = sourceId === LOCAL_SOURCE_ID;
  const by = sourceId === accountId ? "You" : source;
  if (agent === null) return { name: isLocal ? LOCAL_SOURCE_NAME : by, by: null };
  return { name: agent, by: isLocal ? "on this machine" : by };
}

/** The name by which people know an agent: `Claude Code` for `claude-code`. */
export function agentName(agent: string | null): string | null {
  return agent === null ? null : (findClient(agent)?.name ?? agent);
}

/** The events of a list, newest first, with equal actions of one agent merged. */
export function groupEvents(events: readonly ActivityEvent[]): ActivityEvent[] {
  const groups: ActivityEvent[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && isAlike(last, event)) groups[groups.length - 1] = addCounts(event, last);
    else groups.push(event);
  }
  return groups;
}

function isAlike(a: ActivityEvent, b: ActivityEvent): boolean {
  return (
    a.kind === b.kind &&
    a.sourceId === b.sourceId &&
    a.agent === b.agent &&
    a.query === b.query &&
    Math.abs(a.at.getTime() - b.at.getTime()) < GROUPING_MS
  );
}

/** An event in words: `saved 3 memories`. */
export function describeEvent({ kind, times, memories, inVain }: ActivityEvent): string {
  const all = memories === 1 ? "a memory" : `${memories.toLocaleString("en")} memories`;
  const often = times === 1 ? "" : times === 2 ? " twice" : ` ${times.toLocaleString("en")} times`;
  const found = inVain === times ? "found nothing" : `found ${all}`;
  switch (kind) {
    case "searched":
      return `searched${often}, ${found}`;
    case "recalled":
      return `recalled${often}, ${found}`;
    case "captured":
      return `captured ${memories === 1 ? "a turn" : `${memories.toLocaleString("en")} turns`}`;
    default:
      return `${kind} ${all}`;
  }
}
