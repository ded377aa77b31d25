import { type Static, Type } from "@sinclair/typebox";
import { LRUCache } from "lru-cache";
import type { Decay } from "../../config/config.ts";
import type { Reach } from "../../keys/reach.ts";
import { instant } from "../../text/input-kinds.ts";
import { createPause } from "../../timing/pause.ts";
import { mostFrequent } from "../map/groups.ts";
import { passes } from "../model/filter.ts";
import { readable } from "../model/reach.ts";
import type { MemoryFacts, MemoryRow } from "../model/rows.ts";
import { retentionOf } from "../ranking/retention.ts";

const DAY = 86_400_000;

/** Milliseconds for which the statistics of unchanged memories are kept: only their ages change. */
const LIFETIME = 10 * 60_000;

/** The most entries of a list. A label with more values is no longer useful as a label. */
export const STATS_LIMITS = { tags: 100, agents: 100, projects: 1_000, days: 3_660 } as const;

/** Cells of `fading` for each doubling of the age, and from importance 0 to 1. */
const AGE_STEPS = 8;
const IMPORTANCE_STEPS = 20;

const count = Type.Integer({ minimum: 1, description: "The number of memories." });
const time = (description: string) => Type.Union([instant({ description }), Type.Null()]);
const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

/** Statistics of an account's memories. */
export const Stats = Type.Object({
  memories: Type.Integer({ minimum: 0, description: "The number of all memories." }),
  bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      "Size on disk, with vectors, indexes and data that is still to be removed; `null` for a key that is bound to a project.",
  }),
  oldest: time("When the oldest was created; `null` without memories."),
  newest: time("When the newest was created; `null` without memories."),
  tags: Type.Array(Type.Object({ tag: Type.String(), memories: count }), {
    description: `The ${STATS_LIMITS.tags} most frequent tags.`,
  }),
  agents: Type.Array(
    Type.Object({ agent_id: Type.Union([Type.String(), Type.Null()]), memories: count }),
    { description: `The ${STATS_LIMITS.agents} most frequent agents; \`null\` is none.` },
  ),
  projects: Type.Array(
    Type.Object({
      project: Type.Union([Type.String(), Type.Null()]),
      memories: count,
      changed_at: instant({ description: "When one of them was last saved or changed." }),
    }),
    { description: `The ${STATS_LIMITS.projects} most frequent projects; \`null\` is none.` },
  ),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: "In UTC.", examples: ["2026-11-21"] }),
      memories: count,
    }),
    {
      description: `Days on which memories were created, oldest first; the last ${STATS_LIMITS.days}.`,
    },
  ),
  fading: Type.Array(
    Type.Object({
      age_days: Type.Number({ minimum: 0, description: "Since the last change." }),
      importance: share("0 to 1."),
      retention: share("The mean retention at their age."),
      memories: count,
    }),
    {
      description:
        "How far memories have faded: means of memories of similar age and importance. Pinned memories never fade and are counted separately.",
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
  const changes = new Map<string | null, number>();
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
      changes.set(facts.project, Math.max(changes.get(facts.project) ?? 0, facts.updatedAt));
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

    async total(): Promise<Figures> {
      const isEmpty = memories === 0;
      const firstTags = await mostFrequent(tags, STATS_LIMITS.tags);
      const firstAgents = await mostFrequent(agents, STATS_LIMITS.agents);
      const firstProjects = await mostFrequent(projects, STATS_LIMITS.projects);
      return {
        memories,
        oldest: isEmpty ? null : new Date(oldest).toISOString(),
        newest: isEmpty ? null : new Date(newest).toISOString(),
        tags: firstTags.map(([tag, memories]) => ({ tag, memories })),
        agents: firstAgents.map(([agent_id, memories]) => ({ agent_id, memories })),
        projects: firstProjects.map(([project, memories]) => ({
          project,
          memories,
          changed_at: new Date(changes.get(project) ?? 0).toISOString(),
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
interface Countable {
  /** All of them, in batches; other requests run between two batches. */
  rows(): AsyncIterable<readonly MemoryRow[]>;
  /** A number that grows with each write. */
  readonly changes: number;
}

/** The most statistics that are kept for an account: of all memories, and of bound projects. */
const MAX_KEPT = 8;

/** Kept statistics, and how long they are valid. */
interface Kept {
  changes: number;
  at: number;
  /** When the first counted memory expires. */
  until: number;
  figures: Promise<Figures>;
}

/**
 * Returns the statistics of the memories that a caller may read. Counts again only when memories have
 * changed.
 */
export function createStats({ clock, decay }: { clock: () => number; decay: Decay }) {
  const known = new WeakMap<Countable, LRUCache<string, Kept>>();

  const count = async (
    memories: Countable,
    reach: Reach,
    period: Omit<Kept, "figures">,
  ): Promise<Figures> => {
    const tally = createTally(period.at, decay);
    const visible = readable(reach, { aliveAt: period.at });
    const pause = createPause();
    for await (const rows of memories.rows()) {
      for (const row of rows) {
        await pause();
        if (!passes(visible, row)) continue;
        tally.add(row);
        period.until = Math.min(period.until, row.expiresAt ?? period.until);
      }
    }
    return await tally.total();
  };

  return (memories: Countable, reach: Reach): Promise<Figures> => {
    const { changes } = memories;
    const now = clock();
    const counts = known.get(memories) ?? new LRUCache<string, Kept>({ max: MAX_KEPT });
    known.set(memories, counts);
    const boundTo = JSON.stringify(reach.bound);
    const last = counts.get(boundTo);
    const isValid = last && now < last.until && Math.abs(now - last.at) < LIFETIME;
    if (isValid && last.changes === changes) return last.figures;
    const period = { changes, at: now, until: Number.POSITIVE_INFINITY };
    const figures = count(memories, reach, period);
    counts.set(boundTo, Object.assign(period, { figures }));
    figures.catch(() => counts.delete(boundTo));
    return figures;
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function round(value: number) {
  return Math.round(value * 10_000) / 10_000;
}
