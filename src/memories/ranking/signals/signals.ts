import type { Considered } from "../considered.ts";
import { isOf } from "../period.ts";
import type { Question } from "../question.ts";
import { flag } from "../trees.ts";
import { interaction, meaning } from "./interaction.ts";
import type { Kind, ScorePart, WriteSignals } from "./kind.ts";
import { isQuestion, wording } from "./wording.ts";

/** In a search by words alone, words count more by this factor, since there is no meaning. */
const SINGLE_MODE_FACTOR = 1.5;

/** The question's words that a memory contains. */
const words: Kind = {
  part: "words",
  names: ["coverage"],
  read: ({ mode }) =>
    mode === "keyword"
      ? ({ coverage, own }, row, from) => {
          row[from] = SINGLE_MODE_FACTOR * (coverage + own);
        }
      : ({ coverage }, row, from) => {
          row[from] = coverage;
        },
};

const writeNone: WriteSignals = () => {};

/** Whether a memory is from the time that the question names. */
const time: Kind = {
  part: "time",
  names: ["period"],
  read({ period }) {
    if (period === null) return writeNone;
    return ({ memory }, row, from) => {
      row[from] = flag(isOf(period, memory.createdAt));
    };
  },
};

/** Characters from which on a text counts as long, and the number of doublings that count. */
const LONG = 600;
const MOST = 2;
/** Coverage of the question's words from which on a text was found by its words. */
const COVERED = 0.3;

/** Long texts contain many words by chance, so their matching words say less. */
const length: Kind = {
  part: "length",
  names: ["long"],
  read: () => (memory, row, from) => {
    const { length } = memory.memory.content;
    const doublings = Math.min(MOST, Math.max(0, Math.log2(length / LONG)));
    row[from] = doublings * Math.min(1, memory.coverage / COVERED);
  },
};

/**
 * Characters up to which the neighbours of a memory count in full. They count less for a longer memory, in proportion.
 * Otherwise the long reply of an assistant would rank above the message that it answers.
 */
const BORROWS_IN_FULL = 600;

/**
 * The neighbours of a memory in its session. An answer is often next to the memory that has the question's words. So
 * these signals count the words of the question that the two memories before and after have, and the memory itself lacks.
 */
const session: Kind = {
  part: "session",
  names: ["around"],
  read({ terms }) {
    const rareness = Float64Array.from(terms, (term) => term.rareness);
    const all = rareness.reduce((sum, one) => sum + one, 0);
    return (memory, row, from) => {
      const { matches, previous, next } = memory;
      if (all === 0 || (previous === null && next === null)) return;
      const before = previous?.previous?.matches;
      const after = next?.next?.matches;
      let found = 0;
      for (let at = 0; at < rareness.length; at++) {
        if (matches[at]) continue;
        if (previous?.matches[at] || next?.matches[at] || before?.[at] || after?.[at]) {
          found += rareness[at] ?? 0;
        }
      }
      row[from] = (borrows(memory) * found) / all;
    };
  },
};

/** The relevance of the message to which a memory replies. */
const reply: Kind = {
  part: "session",
  names: ["reply"],
  read: () => (memory, row, from) => {
    const { previous } = memory;
    if (!previous || !isQuestion(previous.memory.content)) return;
    row[from] = borrows(memory) * previous.own;
  },
};

function borrows({ memory }: Considered): number {
  return Math.min(1, BORROWS_IN_FULL / memory.content.length);
}

type Kinds = readonly Kind[];

/** Signals that take little time. They are computed for all memories that are ranked. */
export const SIGNALS_OF_ALL: Kinds = [meaning, words, session, time, length];
/** Signals that compare the best memories with the question word by word. */
export const SIGNALS_OF_WORDS: Kinds = [interaction];
/** Signals that need the text. They are computed for the best memories only, and are 0 for the others. */
export const SIGNALS_OF_TEXT: Kinds = [reply, wording];

const ALL = [...SIGNALS_OF_ALL, ...SIGNALS_OF_WORDS, ...SIGNALS_OF_TEXT];

/** All signals in the order of their columns, each with its part of the explanation. */
export const SIGNALS: readonly { name: string; part: ScorePart }[] = ALL.flatMap(
  ({ names, part }) => names.map((name) => ({ name, part })),
);

/** The place of a signal in a row. */
export function placeOf(wanted: string): number {
  return SIGNALS.findIndex(({ name }) => name === wanted);
}

/** @returns a function that writes the signals of a memory into a row with room for all signals */
export function signalReader(
  kinds: Kinds,
  question: Question,
  all: readonly Considered[],
): (memory: Considered, row: Float64Array) => void {
  const writers = kinds.map((kind) => {
    const [first = ""] = kind.names;
    return { write: kind.read(question, all), from: placeOf(first) };
  });
  return (memory, row) => {
    for (const { write, from } of writers) write(memory, row, from);
  };
}
