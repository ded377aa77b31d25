import { MAX_MATCHING } from "../indexes/words.ts";
import type { Candidate, MemoryRow } from "../model/rows.ts";
import type { Question } from "./question.ts";
import { fullMatch, meaningScore, wordsScore } from "./relevance.ts";

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
  const placed = considered.filter(({ memory }) => sessions.has(memory.sessionId ?? ""));
  for (const turns of Map.groupBy(placed, ({ memory }) => memory.sessionId).values()) {
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
 * The lead by which a captured turn comes before a saved memory, in log-odds: a turn in which the user states something, the
 * same if it also names more of what the question names, and any other turn. Chosen by `test/eval/captured.ts`.
 */
const LEADS = { stating: 1.5, naming: 0.5, other: 8 };

/** The fields of a result that determine the place of captured turns. */
interface Scored {
  score: number;
  logOdds: number;
  chance: number;
  /** Relevance and age, in log-odds. */
  order: number;
}

/** What turns say about a question. */
interface TurnReader<Saved, Captured> {
  /** Whether the user states something in a turn. */
  states(turn: Captured): boolean;
  /** Whether a turn only asks. */
  asks(turn: Captured): boolean;
  /** Whether a turn has all that the question names and a saved memory has, and more of it. */
  namesMore(turn: Captured, saved: Saved): boolean;
}

/**
 * Merges captured turns into saved memories. A turn needs a lead: a remark in passing is weaker evidence than a saved
 * memory, and a repeated question finds the turns in which it was asked before. A saved memory that lacks what the question
 * names is about something like it, so a small lead is enough. A turn that comes before a saved memory is at least as
 * likely an answer, and no result gets a higher score than the one before it.
 * @param saved with comparable scores, the best first
 * @param captured with comparable scores
 */
export function placeAmongSaved<Saved extends Scored, Captured extends Scored>(
  saved: readonly Saved[],
  captured: readonly Captured[],
  { states, asks, namesMore }: TurnReader<Saved, Captured>,
): (Saved | Captured)[] {
  const turns = captured
    .map((turn) => ({ turn, lead: states(turn) ? LEADS.stating : LEADS.other }))
    .sort((a, b) => b.turn.order - b.lead - (a.turn.order - a.lead));
  const placed: (Saved | Captured)[] = [];
  let highest = 1;
  const place = (one: Saved | Captured) => {
    highest = Math.min(highest, one.score);
    placed.push({ ...one, score: highest });
  };
  const leads = ({ turn, lead }: (typeof turns)[number], one: Saved): boolean => {
    const ahead = turn.order - one.order;
    if (ahead > lead) return true;
    return ahead > LEADS.naming && states(turn) && namesMore(turn, one);
  };
  let next = 0;
  for (const one of saved) {
    for (let each = turns[next]; each && leads(each, one); each = turns[++next]) {
      const { turn } = each;
      const { logOdds, chance } = one.chance > turn.chance ? one : turn;
      place({ ...turn, logOdds, chance, score: Math.max(turn.score, one.score) });
    }
    place(one);
  }
  // Who asked a question before does not make it likely that something is known, nor does a turn behind the best saved memory.
  const [best] = saved;
  for (const { turn } of turns.slice(next)) {
    const isLess = best && (asks(turn) || turn.order < best.order);
    const { logOdds, chance } = isLess && best.chance < turn.chance ? best : turn;
    place({ ...turn, logOdds, chance });
  }
  return placed;
}
