import { MAX_MATCHING } from "../indexes/words.ts";
import type { Candidate, MemoryRow } from "../model/rows.ts";
import type { Question } from "./question.ts";
import { fullMatch, logOddsOf, meaningScore, wordsScore } from "./relevance.ts";

/** A memory to rank: facts about the memory alone, and its neighbours in its session. */
export interface Considered {
  readonly memory: MemoryRow;
  readonly matches: Float32Array;
  /** 0 for unrelated texts to 1 for the same text. */
  readonly meaning: number;
  /** The share of the question's words in the memory. Rare words count more. */
  readonly coverage: number;
  /** The relevance of the memory alone, 0 to 1. */
  readonly own: number;
  /** Which of its passages is nearest. */
  readonly passage: number;
  /** How well its words match those of the question one by one; `null` if they were not compared. */
  interaction: number | null;
  /** The memory before it in its session, if the session was read. */
  previous: Considered | null;
  next: Considered | null;
}

/** The share of a word's contribution that depends on its frequency and on the length of the text. */
const OFTEN = 0.3;
/** The share of meaning, besides words, in the relevance of a memory alone. */
const MEANING_SHARE = { hybrid: 0.6, semantic: 1, keyword: 0 };

/**
 * One entry for each memory, by its id. A memory may be both a candidate and a neighbour in a session.
 * @param known the entries so far, which come first
 */
export function consider(
  candidates: readonly Candidate[],
  question: Question,
  known: readonly Considered[] = [],
): Considered[] {
  const { mode, model, terms, memories } = question;
  const understood = mode === "hybrid" ? question.understood : 1;
  const meaningShare = MEANING_SHARE[mode] * understood;
  const rareness = Float64Array.from(terms, (term) => term.rareness);
  const all = rareness.reduce((sum, one) => sum + one, 0);
  const full = fullMatch(terms.length, memories);
  const considered = [...known];
  const seen = new Set<string>();
  for (const { memory } of known) seen.add(memory.id);
  for (const { memory, cosine, passage, matches } of candidates) {
    if (seen.has(memory.id)) continue;
    seen.add(memory.id);
    let [bm25, covered] = [0, 0];
    for (let at = 0; at < matches.length; at++) {
      const match = matches[at] ?? 0;
      if (match === 0) continue;
      bm25 += (rareness[at] ?? 0) * match;
      covered += (rareness[at] ?? 0) * (1 - OFTEN + (OFTEN * match) / MAX_MATCHING);
    }
    const meaning = cosine === null ? 0 : understood * meaningScore(cosine, model.cosines);
    considered.push({
      memory,
      passage,
      matches,
      meaning,
      coverage: covered === 0 ? 0 : covered / all,
      own: MEANING_SHARE[mode] * meaning + (1 - meaningShare) * wordsScore(bm25, full),
      interaction: null,
      previous: null,
      next: null,
    });
  }
  return considered;
}

/** Links memories of these sessions with their neighbours in time. */
export function placeInSessions(
  considered: readonly Considered[],
  sessions: ReadonlySet<string>,
): void {
  const bySession = Map.groupBy(considered, ({ memory }) => memory.sessionId);
  for (const [sessionId, turns] of bySession) {
    if (sessionId === null || !sessions.has(sessionId)) continue;
    turns.sort(inTime);
    for (const [place, turn] of turns.entries()) {
      turn.previous = turns[place - 1] ?? null;
      turn.next = turns[place + 1] ?? null;
    }
  }
}

function inTime({ memory: a }: Considered, { memory: b }: Considered): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/**
 * The lead that a captured turn needs to come before a saved memory that does not count as an answer: the
 * difference of their scores in log-odds. Chosen by `test/eval/captured.ts`.
 */
const STEP = 3;
const LOWEST = 1e-6;

/** The lead in log-odds from which on what was said in a turn comes before a saved memory that counts as an answer. */
const FAR = 1;

/** The fields of a result that determine the place of captured turns. */
interface Scored {
  score: number;
  chance: number;
  sum: number;
}

/**
 * Merges captured turns into saved memories. A saved memory that counts as an answer comes before all
 * turns, any other before turns that are about as good: a remark in passing is weaker evidence than a
 * saved memory, and a repeated question finds the turn in which it was asked before. A turn in which the user states
 * something and that is far better comes first all the same: the saved memory is about something like it. No result gets a higher score
 * than the one before it.
 * @param saved with comparable scores, the best first
 * @param captured with comparable scores, the best first
 * @param floor the chance from which on a memory counts as an answer
 * @param states whether the user states something in a turn
 */
export function placeAmongSaved<Saved extends Scored, Captured extends Scored>(
  saved: readonly Saved[],
  captured: readonly Captured[],
  floor: number,
  states: (turn: Captured) => boolean,
): (Saved | Captured)[] {
  const placed: (Saved | Captured)[] = [];
  let next = 0;
  let highest = 1;
  const place = (one: Saved | Captured) => {
    highest = Math.min(highest, one.score);
    placed.push({ ...one, score: highest });
  };
  for (const one of saved) {
    for (;;) {
      const turn = captured[next];
      const isFirst =
        turn !== undefined &&
        (one.chance < floor
          ? worthOf(turn) - STEP > worthOf(one)
          : turn.sum - one.sum > FAR && states(turn));
      if (!isFirst) break;
      place(turn);
      next++;
    }
    place(one);
  }
  for (const turn of captured.slice(next)) place(turn);
  return placed;
}

function worthOf({ score }: Scored): number {
  return logOddsOf(score, LOWEST);
}
