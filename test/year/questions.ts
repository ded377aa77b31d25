import type { FoundMemory } from "../../src/memories/model/found-memory.ts";
import { createRandom } from "../bench/random.ts";
import { createSentences } from "./sentences.ts";
import type { Year } from "./talk.ts";
import { currentOf, type Fact, holdsAt, isKept, PEOPLE, shuffled, type Version } from "./truth.ts";

/**
 * `known`: the memory has what holds. `changed`: the same, and what held before. `outlived`: what holds was only captured
 * and is gone, but something outdated was saved. `withdrawn`: nothing holds. `unsaid`: it was never told.
 */
export const KINDS = ["known", "changed", "outlived", "withdrawn", "unsaid"] as const;
export type QuestionKind = (typeof KINDS)[number];

export interface YearQuestion {
  kind: QuestionKind;
  fact: Fact;
  text: string;
}

/** Questions of each kind for each person. */
const MOST: Record<QuestionKind, number> = {
  known: 40,
  changed: 40,
  outlived: 15,
  withdrawn: 20,
  unsaid: 20,
};

/** What is asked at a month's end. It depends on what was said alone, not on what the server made of it. */
export function questionsAt(year: Year, now: number, seed: number): YearQuestion[] {
  const random = createRandom(seed);
  const sentences = createSentences(random);
  return PEOPLE.flatMap((person) => {
    const mine = shuffled(
      year.facts.filter((fact) => fact.person === person),
      random,
    );
    return KINDS.flatMap((kind) =>
      mine
        .filter((fact) => kindOf(fact, now) === kind)
        .slice(0, MOST[kind])
        .map((fact) => ({ kind, fact, text: sentences.ofFact(fact, "questions", { at: now }) })),
    );
  });
}

/** Null for a fact that was forgotten as a whole, as it should be. */
function kindOf(fact: Fact, now: number): QuestionKind | null {
  const { versions } = fact;
  if (versions.length === 0) return "unsaid";
  const isThere = (version: Version) => isKept(version, now);
  const current = currentOf(fact);
  if (!current) return versions.some(isThere) ? "withdrawn" : null;
  if (!isThere(current)) return versions.some(({ isSaved }) => isSaved) ? "outlived" : null;
  return versions.slice(0, -1).some(isThere) ? "changed" : "known";
}

/** What an answer shows first, or that it has nothing. */
export type First = "right" | "stale" | "marked" | "other" | "nothing";

export interface Judgement {
  first: First;
  /** Whether what holds is among the results. */
  isFound: boolean;
  /** Results that say what held before, and how many of them are marked as outdated. */
  outdated: number;
  marked: number;
  /** Results that say what holds, of any fact, and how many of them are marked although nothing newer says otherwise. */
  holding: number;
  wronglyMarked: number;
}

/** Compares the results of a search with the truth. */
export function judge(
  year: Year,
  { fact }: Pick<YearQuestion, "fact">,
  found: readonly FoundMemory[],
): Judgement {
  const states = found.map((memory) => stateOf(year, memory));
  const own = states.filter((state) => state.said?.fact === fact);
  const [first] = states;
  const isOutdated = (state: State) => state.said !== null && !state.holds;
  return {
    first: first ? firstOf(first, fact) : "nothing",
    isFound: own.some(({ holds }) => holds),
    outdated: own.filter(isOutdated).length,
    marked: own.filter((state) => isOutdated(state) && state.isMarked).length,
    holding: states.filter(({ holds }) => holds).length,
    wronglyMarked: states.filter((state) => state.holds && isMarkedWrongly(year, state, found))
      .length,
  };
}

type State = ReturnType<typeof stateOf>;

function stateOf(year: Year, memory: FoundMemory) {
  const said = year.saidIn(memory.content);
  return {
    memory,
    said,
    holds: said !== null && holdsAt(said, Number.POSITIVE_INFINITY),
    isMarked: isMarked(memory),
  };
}

function isMarked({ newer, superseded_by }: FoundMemory): boolean {
  return newer !== undefined || superseded_by !== null;
}

function firstOf({ said, holds, isMarked }: State, fact: Fact): First {
  if (said?.fact !== fact) return "other";
  if (holds) return "right";
  return isMarked ? "marked" : "stale";
}

/** What holds is rightly marked if something newer says the same. */
function isMarkedWrongly(
  year: Year,
  { memory, said }: State,
  found: readonly FoundMemory[],
): boolean {
  if (memory.newer === undefined) return false;
  const newer = found.find(({ id }) => id === memory.newer);
  const other = newer ? year.saidIn(newer.content) : null;
  return other?.fact !== said?.fact || other?.version !== said?.version;
}
