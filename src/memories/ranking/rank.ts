import type { MemoryRow } from "../rows.ts";
import { type Considered, placeInSessions } from "./considered.ts";
import type { Question } from "./question.ts";
import { retentionOf } from "./retention.ts";
import { chanceOf, rounded } from "./scores.ts";
import { CHEAP, COMPARED, READ, SIGNALS, signalReader } from "./signals/signals.ts";
import { sumOf, WEIGHTS, type Weights } from "./weights.ts";

/** Best candidates for which the other memories of their sessions are read. */
const BEST = 10;
/** Best memories that are compared word by word and whose texts are read. */
const BEST_COUNT = 100;

/** A memory with its place in the result. */
export interface Ranked {
  memory: MemoryRow;
  /** Which of its passages is nearest. */
  passage: number;
  /** 0 to 1, as clients receive it. */
  score: number;
  /** The weighted sum of its signals, in log-odds. */
  sum: number;
  /** In the order of `SIGNALS`. */
  signals: Float64Array;
  /** Its retention, 0 to 1. */
  kept: number;
  /** `sum` adjusted by the results as a whole; see `calibrate`. */
  logOdds: number;
  /** The chance that it answers the question, 0 to 1, whatever its age. */
  chance: number;
}

/** Sessions of the best candidates, whose other memories are needed to rank. */
export function sessionsAround(found: readonly Considered[]): string[] {
  const best = found
    .toSorted((a, b) => b.own - a.own || newestFirst(a.memory, b.memory))
    .slice(0, BEST);
  return [...new Set(best.flatMap(({ memory }) => memory.sessionId ?? []))];
}

/** A ranking by the signals that take little time. */
interface FirstRanking {
  /** The ids of the best memories, which are compared further. */
  readonly best: readonly string[];
  /**
   * Puts the best memory first; equals go by newest, then id.
   * @param interactions how well the words of each of the best answer those of the question, by its id
   */
  finish(interactions: ReadonlyMap<string, number>): Ranked[];
}

/** @param sessions those of which all memories are considered */
export function rankFirst(
  considered: readonly Considered[],
  sessions: readonly string[],
  question: Question,
  weights: Weights = WEIGHTS,
): FirstRanking {
  placeInSessions(considered, new Set(sessions));
  // A memory that is only a neighbour of a match has none of the words.
  const found = question.mode === "keyword" ? considered.filter(({ own }) => own > 0) : considered;
  const numbers = new Float64Array(found.length * SIGNALS.length);
  const read = signalReader(CHEAP, question, found);
  const all = found.map((one, at) => {
    const signals = numbers.subarray(at * SIGNALS.length, (at + 1) * SIGNALS.length);
    read(one, signals);
    return place(one, signals, question, weights);
  });
  all.sort(inOrder);
  // Only the best are read, since reading takes time and the others are hardly ever shown.
  const best = all.slice(0, BEST_COUNT).map(({ one }) => one);
  return {
    best: best.map(({ memory }) => memory.id),
    finish(interactions) {
      for (const one of best) one.interaction = interactions.get(one.memory.id) ?? null;
      const compare = signalReader(COMPARED, question, best);
      const readText = signalReader(READ, question, best);
      return all
        .map(({ one, ranked: { signals } }, at) => {
          compare(one, signals);
          if (at < best.length) readText(one, signals);
          return place(one, signals, question, weights);
        })
        .sort(inOrder)
        .map(({ ranked }) => ranked);
    },
  };
}

interface Placed {
  one: Considered;
  ranked: Ranked;
  /** The log-odds of its score, by which it is ordered: scores near 1 look the same. */
  order: number;
}

function place(
  one: Considered,
  signals: Float64Array,
  { decay, now }: Question,
  weights: Weights,
): Placed {
  const { memory, passage } = one;
  const sum = sumOf(signals, weights);
  const kept = decay ? retentionOf(memory, now, decay) : 1;
  const share = decay ? 1 - decay.depth + decay.depth * kept : 1;
  // The log-odds of share · 1 / (1 + e^−sum).
  const order = rounded(Math.log(share) - Math.log(Math.exp(-sum) + 1 - share));
  const score = rounded(chanceOf(order));
  return {
    one,
    ranked: { memory, passage, score, sum, signals, kept, logOdds: sum, chance: chanceOf(sum) },
    order,
  };
}

function inOrder(a: Placed, b: Placed) {
  return b.order - a.order || newestFirst(a.one.memory, b.one.memory);
}

function newestFirst(a: MemoryRow, b: MemoryRow) {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
