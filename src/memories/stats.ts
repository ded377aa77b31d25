import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Decay } from "../config.ts";
import { instant } from "../input-kinds.ts";
import type { Reach } from "../keys/reach.ts";
import { passes } from "./filter.ts";
import { retentionOf } from "./ranking/retention.ts";
import { readable } from "./reach.ts";
import type { MemoryFacts, MemoryRow } from "./rows.ts";

const DAY = 86_400_000;

/** Milliseconds for which figures of memories that do not change hold: only ages grow. */
const LIFETIME = 10 * 60_000;

/** Entries of a list at the most: what makes more of them is no label any more. */
export const STATS_LIMITS = { tags: 100, agents: 100, projects: 1_000, days: 3_660 } as const;

/** Cells of `fading` for each time that the age doubles, and from importance 0 to 1. */
const AGE_STEPS = 8;
const IMPORTANCE_STEPS = 20;

const count = Type.Integer({ minimum: 1, description: "How many memories." });
const time = (description: string) => Type.Union([instant({ description }), Type.Null()]);
const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** What an account has, in figures. */
export const Stats = Type.Object({
  memories: Type.Integer({ minimum: 0, description: "How many there are." }),
  bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      "Size on disk, with vectors, indexes and what upkeep has yet to remove; `null` for a key that is bound to a project.",
  }),
  oldest: time("When the oldest was created; `null` without memories."),
  newest: time("When the newest was created; `null` without memories."),
  tags: Type.Array(Type.Object({ tag: Type.String(), memories: count }), {
    description: `By tag, the ${STATS_LIMITS.tags} most frequent.`,
  }),
  agents: Type.Array(
    Type.Object({ agent_id: Type.Union([Type.String(), Type.Null()]), memories: count }),
    { description: `By agent, the ${STATS_LIMITS.agents} most frequent.` },
  ),
  projects: Type.Array(
    Type.Object({ project: Type.Union([Type.String(), Type.Null()]), memories: count }),
    { description: `By project, the ${STATS_LIMITS.projects} most frequent; \`null\` is none.` },
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: "In UTC.", examples: ["2026-11-21"] }),
      memories: count,
    }),
    {
      description: `By day of creation, those with any, the oldest first; the last ${STATS_LIMITS.days}.`,
    },
  ),
  fading: Type.Array(
    Type.Object({
      age_days: Type.Number({ minimum: 0, description: "Since the last change." }),
      importance: share("0 to 1."),
      retention: share("What is left of them at their age."),
      memories: count,
    }),
    {
      description:
        "How far memories have faded: means of those alike in age and importance; pinned ones, which never fade, are counted apart.",
    },
  ),
});
export type Stats = Static<typeof Stats>;

interface Cell {
  age: number;
  importance: number;
  retention: number;
  memories: number;
}

/**
 * Counts memories as they are read.
 * @param now milliseconds since 1970
 */
export function createTally(now: number, decay: Decay) {
  const tags = new Map<string, number>();
  const agents = new Map<string | null, number>();
  const projects = new Map<string | null, number>();
  const days = new Map<number, number>();
  const cells = new Map<number, Cell>();
  let memories = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;

  return {
    add(facts: MemoryFacts): void {
      memories++;
      oldest = Math.min(oldest, facts.createdAt);
      newest = Math.max(newest, facts.createdAt);
      for (const tag of facts.tags) increment(tags, tag);
      increment(agents, facts.agentId);
      increment(projects, facts.project);
      increment(days, Math.floor(facts.createdAt / DAY));

      const { importance } = facts;
      const age = Math.max(0, now - facts.updatedAt);
      const column = Math.floor(AGE_STEPS * Math.log2(1 + age / DAY));
      const row = column * (IMPORTANCE_STEPS + 1) + Math.round(importance * IMPORTANCE_STEPS);
      const place = 2 * row + (facts.pinned ? 1 : 0);
      const cell = cells.get(place) ?? { age: 0, importance: 0, retention: 0, memories: 0 };
      cell.age += age;
      cell.importance += importance;
      cell.retention += retentionOf(facts, now, decay);
      cell.memories++;
      cells.set(place, cell);
    },

    total(): Figures {
      const isEmpty = memories === 0;
      return {
        memories,
        oldest: isEmpty ? null : new Date(oldest).toISOString(),
        newest: isEmpty ? null : new Date(newest).toISOString(),
        tags: mostFrequent(tags, STATS_LIMITS.tags).map(([tag, memories]) => ({ tag, memories })),
        agents: mostFrequent(agents, STATS_LIMITS.agents).map(([agent_id, memories]) => ({
          agent_id,
          memories,
        })),
        projects: mostFrequent(projects, STATS_LIMITS.projects).map(([project, memories]) => ({
          project,
          memories,
        })),
        days: [...days]
          .sort(([a], [b]) => a - b)
          .slice(-STATS_LIMITS.days)
          .map(([day, memories]) => ({
            day: new Date(day * DAY).toISOString().slice(0, 10),
            memories,
          })),
        fading: [...cells.values()].map(({ age, importance, retention, memories }) => ({
          age_days: round(age / memories / DAY),
          importance: round(importance / memories),
          retention: round(retention / memories),
          memories,
        })),
      };
    },
  };
}

type Figures = Omit<Stats, "bytes">;

/** Memories that can be counted. */
export interface Countable {
  /** All of them, some at a time; others have their turn between. */
  rows(): AsyncIterable<readonly MemoryRow[]>;
  /** A number that grows with each write. */
  readonly changes: number;
}

/** Counts that are remembered of one account: of all of it, and of projects. */
const REMEMBERED = 8;

/** A count of memories, and for how long it holds. */
interface Known {
  changes: number;
  at: number;
  /** When the first of the memories that were counted expires. */
  until: number;
  figures: Promise<Figures>;
}

/** Counts the memories that may be read, again only when they have changed. */
export function createSurvey({ clock, decay }: { clock: () => number; decay: Decay }) {
  const known = new WeakMap<Countable, LRUCache<string, Known>>();

  const count = async (
    memories: Countable,
    reach: Reach,
    period: Omit<Known, "figures">,
  ): Promise<Figures> => {
    const tally = createTally(period.at, decay);
    const visible = readable(reach, { aliveAt: period.at });
    for await (const rows of memories.rows()) {
      for (const row of rows) {
        if (!passes(visible, row)) continue;
        tally.add(row);
        period.until = Math.min(period.until, row.expiresAt ?? period.until);
      }
    }
    return tally.total();
  };

  return (memories: Countable, reach: Reach): Promise<Figures> => {
    const { changes } = memories;
    const now = clock();
    const counts = known.get(memories) ?? new LRUCache<string, Known>({ max: REMEMBERED });
    known.set(memories, counts);
    const part = JSON.stringify(reach.bound);
    const last = counts.get(part);
    const isValid = last && now < last.until && Math.abs(now - last.at) < LIFETIME;
    if (isValid && last.changes === changes) return last.figures;
    const period = { changes, at: now, until: Number.POSITIVE_INFINITY };
    const figures = count(memories, reach, period);
    counts.set(part, Object.assign(period, { figures }));
    figures.catch(() => counts.delete(part));
    return figures;
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The most frequent first; equals by name. */
function mostFrequent<Key extends string | null>(counts: Map<Key, number>, limit: number) {
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || ((a ?? "") < (b ?? "") ? -1 : 1))
    .slice(0, limit);
}

function round(value: number) {
  return Math.round(value * 10_000) / 10_000;
}
