import type { NewMemory } from "../../src/memories/model/memory.ts";
import { createRandom, type Random } from "./random.ts";
import {
  ADJECTIVES,
  CIRCUMSTANCES,
  NAME_ENDS,
  NAME_MIDDLES,
  NAME_STARTS,
  NOUNS,
  VERBS,
} from "./vocabulary.ts";

/** What a bench saves and asks: never the same text twice, and the same texts for the same seed. */
export interface Sentences {
  /** A memory of 8 to 40 words; one in two hundred is some pages long. */
  memory(): NewMemory;
  /** A question of 4 to 12 words. */
  query(): string;
}

/** Words that follow each other in a text get rarer as a language's words do. */
const SKEW = 1.6;
const LONG_ONES = 1 / 200;
/** Memories that are saved in one sitting. */
const SESSION = 24;
const AGENTS = ["planner", "coder", "reviewer", "assistant", "researcher", "scheduler"];

export function createSentences(seed: number): Sentences {
  const random = createRandom(seed);
  const known = new Set<string>();
  const unknown = (make: () => string) => {
    let text = make();
    while (known.has(text)) text = make();
    known.add(text);
    return text;
  };
  return {
    memory: () => ({
      content: unknown(() => content(random)),
      tags: Array.from({ length: random.between(0, 3) }, () => random.pick(NOUNS.slice(0, 60), 2)),
      ...(random.next() < 0.8 && { agent_id: random.pick(AGENTS, 2) }),
      ...(random.next() < 0.7 && { session_id: `session-${Math.floor(known.size / SESSION)}` }),
      importance: random.between(0, 10) / 10,
      metadata:
        random.next() < 0.3 ? { source: random.pick(NOUNS), line: random.between(1, 900) } : {},
    }),
    query: () => unknown(() => query(random)),
  };
}

function content(random: Random): string {
  const words = random.next() < LONG_ONES ? random.between(300, 1_500) : random.between(8, 34);
  let text = "";
  for (let length = 0; length < words; length = wordsOf(text)) {
    const joint = text === "" ? "" : random.pick([". ", ". ", ", and ", ", but ", " because "]);
    const next = clause(random);
    text += joint === "" || joint === ". " ? `${joint}${capital(next)}` : `${joint}${next}`;
  }
  return `${text}.`;
}

function clause(random: Random): string {
  return random.pick([
    () => `the ${subject(random)} ${past(random)} ${object(random)}`,
    () => `the ${subject(random)} ${past(random)} ${object(random)} ${random.pick(CIRCUMSTANCES)}`,
    () => `we must ${verb(random)} ${object(random)} ${random.pick(CIRCUMSTANCES)}`,
    () => `${name(random)} ${past(random)} ${object(random)} for ${random.between(2, 990)} euros`,
    () =>
      `my ${noun(random)} is ${adjective(random)} and needs a ${adjective(random)} ${noun(random)}`,
    () => `the team of ${name(random)} prefers ${object(random)} to ${object(random)}`,
    () => `do not ${verb(random)} ${object(random)} before ${object(random)} is ${past(random)}`,
    () => `there are ${random.between(2, 400)} ${noun(random)}s in the ${subject(random)}`,
  ])();
}

function query(random: Random): string {
  return random.pick([
    () => `which ${subject(random)} did ${name(random)} ${verb(random)}`,
    () => `why was the ${subject(random)} ${past(random)} ${random.pick(CIRCUMSTANCES)}`,
    () => `what did we decide about the ${subject(random)} of ${name(random)}`,
    () => `how many ${noun(random)}s are in the ${subject(random)}`,
    () => `when must we ${verb(random)} ${object(random)}`,
    () => `${adjective(random)} ${noun(random)} or ${adjective(random)} ${noun(random)}`,
    () => `who ${past(random)} ${object(random)} ${random.pick(CIRCUMSTANCES)}`,
  ])();
}

const noun = (random: Random) => random.pick(NOUNS, SKEW);
const verb = (random: Random) => random.pick(VERBS, SKEW);
const adjective = (random: Random) => random.pick(ADJECTIVES, SKEW);
const subject = (random: Random) => `${adjective(random)} ${noun(random)}`;

function past(random: Random): string {
  const stem = verb(random);
  if (stem.endsWith("e")) return `${stem}d`;
  return /[^aeiou]y$/.test(stem) ? `${stem.slice(0, -1)}ied` : `${stem}ed`;
}

function object(random: Random): string {
  const which = random.pick(["the", "a", "every", "no", "our", "their"]);
  return random.next() < 0.3
    ? `${which} ${noun(random)} of ${name(random)}`
    : `${which} ${subject(random)}`;
}

function name(random: Random): string {
  const middle = random.next() < 0.5 ? random.pick(NAME_MIDDLES) : "";
  return capital(`${random.pick(NAME_STARTS)}${middle}${random.pick(NAME_ENDS)}`);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function wordsOf(text: string): number {
  return text.split(" ").length;
}
