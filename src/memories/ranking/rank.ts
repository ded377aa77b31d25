import type { Explanation } from "../model/found-memory.ts";
import type { MemoryRow } from "../model/rows.ts";
import { type Considered, placeInSessions } from "./considered.ts";
import type { Question } from "./question.ts";
import { chanceOf, logOddsOf, rounded } from "./relevance.ts";
import { retentionOf, shareKept } from "./retention.ts";
import { PARTS, type ScorePart } from "./signals/kind.ts";
import {
  SIGNALS,
  SIGNALS_OF_ALL,
  SIGNALS_OF_TEXT,
  SIGNALS_OF_WORDS,
  signalReader,
} from "./signals/signals.ts";
import learned from "./weights.json" with { type: "json" };

/** The weight of each signal, and the base of a memory without signals, in log-odds. */
export interface Weights {
  readonly start: number;
  readonly weights: Float64Array;
}

/** The weights learned from conversations; see `test/eval/train.ts`. */
export const WEIGHTS: Weights = readWeights(learned);

export function readWeights({
  start,
  weights,
}: {
  start: number;
  weights: Readonly<Record<string, number>>;
}): Weights {
  return { start, weights: Float64Array.from(SIGNALS, ({ name }) => weights[name] ?? 0) };
}

/** The weighted sum of signals. */
export function sumOf(signals: Float64Array, { start, weights }: Weights): number {
  let sum = start;
  for (let at = 0; at < weights.length; at++) sum += (signals[at] ?? 0) * (weights[at] ?? 0);
  return sum;
}

/** The contribution of each part to the sum. */
export function partsOf(signals: Float64Array, { weights }: Weights): Record<ScorePart, number> {
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<ScorePart, number>;
  for (const [at, { part }] of SIGNALS.entries()) {
    parts[part] += (signals[at] ?? 0) * (weights[at] ?? 0);
  }
  return parts;
}

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
  /** The sum, lowered by age, in log-odds. */
  order: number;
  /** In the order of `SIGNALS`. */
  signals: Float64Array;
  /** Its retention, 0 to 1. */
  retention: number;
  /** `sum` adjusted by the results as a whole; see `calibrate`. */
  logOdds: number;
  /** The chance that it answers the question, 0 to 1, whatever its age. */
  chance: number;
}

/** Sessions of the best candidates, whose other memories are needed to rank. */
export function sessionsAround(found: readonly Considered[]): string[] {
  const best = firstOf(
    found,
    BEST,
    ({ own }) => own,
    (a, b) => newestFirst(a.memory, b.memory),
  );
  return [...new Set(best.flatMap(({ memory }) => memory.sessionId ?? []))];
}

/**
 * Ranks by the signals that take little time.
 * @param sessions those of which all memories are considered
 */
export function rankFirst(
  considered: readonly Considered[],
  sessions: readonly string[],
  question: Question,
  weights: Weights = WEIGHTS,
) {
  placeInSessions(considered, new Set(sessions));
  // A memory that is only a neighbour of a match has none of the words.
  const found = question.mode === "keyword" ? considered.filter(({ own }) => own > 0) : considered;
  const read = signalReader(SIGNALS_OF_ALL, question, found);
  const all = found.map((one) => {
    const signals = new Float64Array(SIGNALS.length);
    read(one, signals);
    return place(one, signals, question, weights);
  });
  // Only the best are read, since reading takes time and the others are hardly ever shown.
  const best = firstOf(all, BEST_COUNT, orderOf, newerFirst);
  const bestMemories = best.map(({ one }) => one);
  return {
    /** The ids of the best memories, which are compared further. */
    best: bestMemories.map(({ memory }) => memory.id),

    /**
     * Puts the best memory first; equals go by newest, then id.
     * @param interactions how well the words of each of the best answer those of the question, by its id
     * @param count how many of the first memories are needed
     */
    finish(interactions: ReadonlyMap<string, number>, count = all.length): Ranked[] {
      for (const one of bestMemories) one.interaction = interactions.get(one.memory.id) ?? null;
      const compare = signalReader(SIGNALS_OF_WORDS, question, bestMemories);
      const readText = signalReader(SIGNALS_OF_TEXT, question, bestMemories);
      for (const { one, signals } of all) compare(one, signals);
      for (const { one, signals } of best) readText(one, signals);
      for (const one of all) order(one, weights);
      return firstOf(all, count, orderOf, newerFirst).map(rankedOf);
    },
  };
}

/** A memory with the log-odds of its score, by which it is ordered: scores near 1 look the same. */
interface Placed {
  readonly one: Considered;
  readonly signals: Float64Array;
  readonly retention: number;
  /** The share of its score that age leaves, and its logarithm. */
  readonly share: number;
  readonly logShare: number;
  sum: number;
  order: number;
}

function place(
  one: Considered,
  signals: Float64Array,
  { decay, now }: Question,
  weights: Weights,
): Placed {
  const retention = decay ? retentionOf(one.memory, now, decay) : 1;
  const share = shareKept(decay, retention);
  const placed = { one, signals, retention, share, logShare: Math.log(share), sum: 0, order: 0 };
  order(placed, weights);
  return placed;
}

/** Computes the sum and the order of a memory from its signals. */
function order(placed: Placed, weights: Weights): void {
  const { signals, share, logShare } = placed;
  const sum = sumOf(signals, weights);
  placed.sum = sum;
  // The log-odds of share · 1 / (1 + e^−sum).
  placed.order = rounded(logShare - Math.log(Math.exp(-sum) + 1 - share));
}

function rankedOf({ one: { memory, passage }, signals, sum, retention, order }: Placed): Ranked {
  const [score, chance] = [rounded(chanceOf(order)), chanceOf(sum)];
  return { memory, passage, score, sum, order, signals, retention, logOdds: sum, chance };
}

const orderOf = ({ order }: Placed): number => order;

function newerFirst(a: Placed, b: Placed) {
  return newestFirst(a.one.memory, b.one.memory);
}

function newestFirst(a: MemoryRow, b: MemoryRow) {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/**
 * The items with the largest values, in order. Fast if few are wanted: only these are compared with each other.
 * @param compare the order of items with the same value
 */
function firstOf<Item>(
  items: readonly Item[],
  count: number,
  numberOf: (item: Item) => number,
  compare: (a: Item, b: Item) => number,
): Item[] {
  const inOrder = (a: Item, b: Item) => numberOf(b) - numberOf(a) || compare(a, b);
  if (items.length <= count) return items.toSorted(inOrder);
  const values = new Float64Array(items.length);
  for (const [at, item] of items.entries()) values[at] = numberOf(item);
  // Without a function that compares them, numbers are sorted ten times as fast.
  const least = values.sort()[items.length - count] ?? 0;
  return items
    .filter((item) => numberOf(item) >= least)
    .sort(inOrder)
    .slice(0, count);
}

/** A relevance of 0 or 1 has no log-odds. */
const LOWEST = 0.0001;
/** Differences up to this come from rounding. */
const ROUNDED = 0.0005;

/**
 * Explains a memory's score by its parts. If the memory took the place and score of another version of its
 * fact, `time` has the difference. If its score was lowered to that of the older memory before it, or if it has the place of
 * another one because it answers better, or none of the first results answers, `question` has the difference.
 */
export function explain(
  { score, signals, sum, logOdds, chance, retention }: Ranked,
  { decay }: Pick<Question, "decay">,
): Explanation {
  const share = shareKept(decay, retention);
  const parts = partsOf(signals, WEIGHTS);
  const isMoved = Math.abs(chance - chanceOf(logOdds)) > ROUNDED;
  const moved = isMoved ? logOddsOf(chance, LOWEST) - logOdds : 0;
  const isLowered = Math.abs(chance * share - score) > ROUNDED;
  const reached = isLowered ? logOddsOf(score / share, LOWEST) : logOdds + moved;
  return {
    start: WEIGHTS.start,
    ...parts,
    time: parts.time + moved,
    question: reached - sum - moved,
    relevance: chanceOf(reached),
    retention,
    decay: decay?.depth ?? 0,
  };
}
