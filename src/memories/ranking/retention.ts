import { DEFAULT_DECAY, type Decay } from "../../config/config.ts";
import type { MemoryRow } from "../model/rows.ts";

const DAY = 86_400_000;

type Ageing = Pick<MemoryRow, "pinned" | "createdAt" | "updatedAt" | "importance">;

/** The retention of a memory at a moment, 0 to 1. It is 1 for a pinned memory. */
export function retentionOf(
  memory: Ageing,
  now: number,
  decay?: Pick<Decay, "halfLifeDays">,
): number {
  return memory.pinned ? 1 : retention(now - lastChange(memory, now), memory.importance, decay);
}

/** The last change of a memory up to a moment, as far as it is known: of several changes, only the last is. */
function lastChange({ createdAt, updatedAt }: Ageing, now: number): number {
  return updatedAt > now ? createdAt : updatedAt;
}

/**
 * The retention of a memory after `age` milliseconds: 2^(−age / half-life), 1 when it is new. The
 * half-life grows with importance, exponentially between its two ends. A score keeps
 * 1 − depth + depth · retention of itself; with the usual settings (30 to 480 days, 0.25):
 *
 * | importance | half-life | after a week | 30 days | 120 days | a year | 3 years |
 * |------------|-----------|--------------|---------|----------|--------|---------|
 * | 0          | 30 days   | 96 %         | 88 %    | 77 %     | 75 %   | 75 %    |
 * | 0.5        | 120 days  | 99 %         | 96 %    | 88 %     | 78 %   | 75 %    |
 * | 1          | 480 days  | 100 %        | 99 %    | 96 %     | 90 %   | 80 %    |
 */
export function retention(
  age: number,
  importance: number,
  decay: Pick<Decay, "halfLifeDays"> = DEFAULT_DECAY,
): number {
  // A clock that was set back makes ages negative: such a memory is new.
  return 2 ** (-Math.max(0, age) / halfLifeOf(importance, decay));
}

/** The share of a score that age leaves at a retention, 0 to 1. */
export function shareKept(decay: Decay | null, retention: number): number {
  return decay ? 1 - decay.depth + decay.depth * retention : 1;
}

/** How a memory fades. */
export interface Fading {
  /** Its retention now, 0 to 1. */
  retention: number;
  /** Milliseconds since its last change. */
  age: number;
  /** Milliseconds in which its retention halves; `null` for a pinned memory, which never fades. */
  halfLife: number | null;
  /** The share of a score that fading can take. */
  depth: number;
}

export function fadingOf(memory: Ageing, now: number, decay: Decay): Fading {
  return {
    retention: retentionOf(memory, now, decay),
    age: Math.max(0, now - lastChange(memory, now)),
    halfLife: memory.pinned ? null : halfLifeOf(memory.importance, decay),
    depth: decay.depth,
  };
}

/** In milliseconds. */
function halfLifeOf(
  importance: number,
  { halfLifeDays: [least, most] }: Pick<Decay, "halfLifeDays">,
): number {
  return least * (most / least) ** importance * DAY;
}
