import { join } from "node:path";
import { type EvaluationSet, readSet } from "./set.ts";

const FOLDER = join(import.meta.dir, "own");
const DAY = 86_400_000;
const START = Date.parse("2025-01-06T08:00:00Z");

/** A question that a store can't answer, and of what kind it is. */
export interface ForeignQuestion {
  question: string;
  kind: string;
}

/** `held` only judges what was tried on `dev`. */
export type Half = "dev" | "held";

/** Facts, habits, code, German, Chinese: memories of many kinds. */
export async function readFacts(): Promise<EvaluationSet> {
  return await readSet(join(FOLDER, "facts.json"));
}

/** A fact with its versions, the oldest first, and which of them each question is about, from 1. */
export interface ChangedFact {
  versions: string[];
  questions: { question: string; version: number }[];
  /** Other memories that are near. */
  beside: string[];
}

/**
 * Facts that changed.
 * @param file `corrections` has corrections and values that merely differ too
 */
export async function readChangedFacts(
  half: Half,
  file: "changed" | "corrections" = "changed",
): Promise<ChangedFact[]> {
  return (await readBlocks(`${file}-${half}.txt`)).map((lines) => {
    const textsOf = (sign: string) => lines.filter((line) => line.sign === sign);
    const versions = textsOf("-").map(({ text }) => text);
    const now = textsOf("?").map(({ text }) => ({ question: text, version: versions.length }));
    const past = textsOf("<").map(({ text }) => {
      const [, number, question = ""] = /^(\d) (.*)$/.exec(text) ?? [];
      if (!versions[Number(number) - 1]) throw new Error(`no version ${text} in ${file}-${half}`);
      return { question, version: Number(number) };
    });
    return {
      versions,
      questions: [...now, ...past],
      beside: textsOf("*").map(({ text }) => text),
    };
  });
}

/**
 * Facts that changed, in a store where the versions of all of them lie between each other. Versions
 * are `FACT.-N`, memories beside them `FACT.*N`; the categories are `now` and `past`.
 */
export async function readChanged(
  half: Half,
  file: "changed" | "corrections" = "changed",
): Promise<EvaluationSet> {
  const set: EvaluationSet = { memories: [], questions: [] };
  const facts = await readChangedFacts(half, file);
  for (const [fact, { versions, questions, beside }] of facts.entries()) {
    const add = (id: string, content: string, days: number) =>
      set.memories.push({
        ...{ id, content },
        said_at: new Date(START + days * DAY + ((fact * 97) % 600) * 60_000).toISOString(),
        ...(fact % 3 === 0 && { agent_id: "assistant" }),
        ...(fact % 4 === 0 && { session_id: `${id} talk` }),
      });
    // Spread by numbers without a common divisor, so that facts mix and versions keep their order.
    for (const [at, text] of versions.entries()) {
      add(`${fact}.-${at + 1}`, text, ((fact * 37) % 60) + at * (40 + ((fact * 17) % 50)));
    }
    for (const [at, text] of beside.entries()) add(`${fact}.*${at + 1}`, text, (fact * 53) % 360);
    for (const { question, version } of questions) {
      const category = version === versions.length ? "now" : "past";
      set.questions.push({ question, evidence: [`${fact}.-${version}`], category });
    }
  }
  return set;
}

/** Two memories of one sentence shape that are both true, and a question for each. */
export interface BothTrue {
  shape: string;
  memories: [string, string];
  questions: [string, string];
}

export async function readBoth(half: Half): Promise<BothTrue[]> {
  return (await readBlocks(`both-${half}.txt`)).map((lines) => {
    const [shape, ...rest] = lines.map(({ text }) => text);
    const [first, second, forFirst, forSecond] = rest;
    if (!shape || !first || !second || !forFirst || !forSecond) {
      throw new Error(`both-${half}.txt: ${shape} is not whole`);
    }
    return { shape, memories: [first, second], questions: [forFirst, forSecond] };
  });
}

/** Short notes as people type them. */
export async function readNotes(): Promise<EvaluationSet> {
  const set: EvaluationSet = { memories: [], questions: [] };
  for (const { sign, text } of (await readBlocks("notes.txt")).flat()) {
    const { length } = set.memories;
    if (sign === "-") {
      const said_at = new Date(START + length * 2.3 * DAY).toISOString();
      set.memories.push({ id: `note ${length + 1}`, content: text, said_at });
    } else {
      set.questions.push({ question: text, evidence: [`note ${length}`], category: "notes" });
    }
  }
  return set;
}

/** Nonsense, general knowledge, greetings, code and the like. */
export async function readForeign(): Promise<ForeignQuestion[]> {
  const found: ForeignQuestion[] = [];
  let kind = "";
  for (const line of (await Bun.file(join(FOLDER, "foreign.txt")).text()).split("\n")) {
    if (line.startsWith("# ")) kind = line.slice(2);
    else if (line !== "") found.push({ question: line, kind });
  }
  return found;
}

/** The lines of a file by their first character, in blocks that an empty line ends. */
export async function readBlocks(
  name: string,
  folder = FOLDER,
): Promise<{ sign: string; text: string }[][]> {
  const text = await Bun.file(join(folder, name)).text();
  return text
    .trim()
    .split("\n\n")
    .map((block) =>
      block.split("\n").map((line) => ({ sign: line.slice(0, 1), text: line.slice(2) })),
    );
}
