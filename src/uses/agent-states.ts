import { dayOf, type Kind } from "../activity/action.ts";

const DAY = 86_400_000;
/** Days of activity that are counted. */
export const COUNTED_DAYS = 90;
/** Days within which an agent must have been active, and on how many of them, to miss its capture. */
const ACTIVE_WITHIN_DAYS = 7;
const ACTIVE_DAYS = 2;
/** Days of recalls, and how many there must have been, to miss what they bring. */
const RECALL_DAYS = 14;
const ENOUGH_RECALLS = 20;

/** The source of agents on the server's machine: they use the local socket and need no key. */
export const LOCAL_SOURCE_ID = "local";

/** What a source and its agent did on one day, as `activity_days` has it. */
export interface AgentDay {
  readonly sourceId: string;
  /** Null or empty if unknown. */
  readonly agent: string | null;
  readonly kind: Kind;
  /** In UTC. */
  readonly day: string;
  readonly times: number;
  readonly memories: number;
  readonly lastAt: Date;
}

/** How many memories of a source and agent were of use. */
export interface OfUse {
  readonly sourceId: string;
  readonly agent: string;
  readonly memories: number;
}

/** A key or app, or the machine of the server. */
export interface Machine {
  readonly id: string;
  readonly name: string;
  readonly isPaused: boolean;
}

/** What an agent on a machine has brought, and what seems to be broken. */
export interface AgentState {
  sourceId: string;
  machine: string;
  agent: string | null;
  lastSeen: Date;
  lastCapture: Date | null;
  lastRecall: Date | null;
  /** Memories that it saved, captured or imported in the last 90 days. */
  brought: number;
  /** Those of them that were found again, recalled, opened, changed or superseded; null while the account counts nothing. */
  ofUse: number | null;
  /** In sentences; empty if nothing seems to be broken. */
  warnings: string[];
}

/**
 * The states of the agents that were active on some machines, the last seen first. An agent is warned about if it captured
 * before, or has hooks that capture, and captured nothing on two days of activity, or if it recalled nothing for two weeks
 * of prompts. Paused ones are not.
 * @param days of the last 90 days
 * @param capturing agents of this machine whose hooks capture
 */
export function agentStates(
  days: readonly AgentDay[],
  {
    machines,
    ofUse,
    capturing = [],
    now,
  }: {
    machines: readonly Machine[];
    ofUse: readonly OfUse[] | null;
    capturing?: readonly string[];
    now: number;
  },
): AgentState[] {
  const byId = new Map(machines.map((machine) => [machine.id, machine]));
  const groups = Map.groupBy(days, ({ sourceId, agent }) =>
    JSON.stringify([sourceId, agent || ""]),
  );
  const states = [...groups.values()].flatMap((own): AgentState[] => {
    const { sourceId = "", agent = null } = own[0] ?? {};
    const machine = byId.get(sourceId);
    if (!machine) return [];
    const last = (...kinds: Kind[]) => {
      const times = own.flatMap(({ kind, lastAt }) =>
        kinds.length === 0 || kinds.includes(kind) ? lastAt.getTime() : [],
      );
      return times.length > 0 ? new Date(Math.max(...times)) : null;
    };
    const isHooked = sourceId === LOCAL_SOURCE_ID && capturing.includes(agent ?? "");
    const sumOf = (kinds: readonly Kind[]) =>
      own.reduce((sum, { kind, memories }) => sum + (kinds.includes(kind) ? memories : 0), 0);
    const known = ofUse?.find((use) => use.sourceId === sourceId && use.agent === (agent || ""));
    const brought = sumOf(["saved", "captured", "imported"]);
    return [
      {
        ...{ sourceId, machine: machine.name, agent: agent || null },
        lastSeen: last() ?? new Date(0),
        lastCapture: last("captured"),
        lastRecall: last("recalled"),
        brought,
        ofUse: ofUse === null ? null : Math.min(brought, known?.memories ?? 0),
        warnings: machine.isPaused ? [] : warningsOf(own, { isHooked, now }),
      },
    ];
  });
  return states.sort((a, b) => b.lastSeen.getTime() - a.lastSeen.getTime());
}

const ACTIVE: readonly Kind[] = ["saved", "searched", "recalled"];

function warningsOf(
  days: readonly AgentDay[],
  { isHooked, now }: { isHooked: boolean; now: number },
): string[] {
  const warnings: string[] = [];
  const captures = days.filter(({ kind }) => kind === "captured").map(({ day }) => day);
  const lastCapture = captures.sort().at(-1) ?? "";
  const since = dayOf(now - (ACTIVE_WITHIN_DAYS - 1) * DAY);
  const active = days.filter(
    ({ kind, day }) => ACTIVE.includes(kind) && day >= since && day > lastCapture,
  );
  const activeDays = new Set(active.map(({ day }) => day)).size;
  if ((lastCapture !== "" || isHooked) && activeDays >= ACTIVE_DAYS) {
    const ago = lastCapture === "" ? "so far" : `since ${lastCapture}`;
    warnings.push(`was active on ${activeDays} days and captured nothing ${ago}`);
  }
  const recalls = days.filter(({ kind }) => kind === "recalled");
  const late = recalls.filter(({ day }) => day > dayOf(now - RECALL_DAYS * DAY));
  const times = late.reduce((sum, each) => sum + each.times, 0);
  const isLong = recalls.some(({ day }) => day <= dayOf(now - (RECALL_DAYS - 1) * DAY));
  if (isLong && times >= ENOUGH_RECALLS && late.every(({ memories }) => memories === 0)) {
    warnings.push(`asked ${times} times in ${RECALL_DAYS} days what to recall, and got nothing`);
  }
  return warnings;
}
