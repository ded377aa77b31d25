import type { Considered } from "../considered.ts";
import type { Question } from "../question.ts";
import { interaction } from "./interaction.ts";
import type { Kind, Part } from "./kind.ts";
import { length } from "./length.ts";
import { meaning } from "./meaning.ts";
import { reply, session } from "./session.ts";
import { time } from "./time.ts";
import { wording } from "./wording.ts";
import { words } from "./words.ts";

type Kinds = readonly [Kind, ...Kind[]];

/** Signals that take little time. They are computed for all memories that are ranked. */
export const CHEAP: Kinds = [meaning, words, session, time, length];
/** Signals that compare the best memories with the question word by word. */
export const COMPARED: Kinds = [interaction];
/** Signals that need the text. They are computed for the best memories only, and are 0 for the others. */
export const READ: Kinds = [reply, wording];

const ALL = [...CHEAP, ...COMPARED, ...READ];

/** All signals in the order of their columns, each with its part of the explanation. */
export const SIGNALS: readonly { name: string; part: Part }[] = ALL.flatMap(({ names, part }) =>
  names.map((name) => ({ name, part })),
);

/** @returns a function that writes the signals of a memory into a row with room for all signals */
export function signalReader(
  kinds: Kinds,
  question: Question,
  all: readonly Considered[],
): (memory: Considered, row: Float64Array) => void {
  const readers = kinds.map((kind) => kind.read(question, all));
  const before = ALL.slice(0, ALL.indexOf(kinds[0]));
  const from = before.reduce((sum, { names }) => sum + names.length, 0);
  return (memory, row) => {
    let at = from;
    for (const read of readers) {
      const values = read(memory);
      for (let place = 0; place < values.length; place++) row[at++] = values[place] ?? 0;
    }
  };
}
