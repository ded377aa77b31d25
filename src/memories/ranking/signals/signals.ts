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

/** Those that take little time, and are computed for all memories that are ranked. */
export const CHEAP: Kinds = [meaning, words, session, time, length];
/** Those for which the best memories are compared with the question word by word. */
export const COMPARED: Kinds = [interaction];
/** Those for which a text has to be read: for the best memories only, and 0 for the others. */
export const READ: Kinds = [reply, wording];

const ALL = [...CHEAP, ...COMPARED, ...READ];

/** All signals, in the order in which they are kept, with the part of an explanation they count to. */
export const SIGNALS: readonly { name: string; part: Part }[] = ALL.flatMap(({ names, part }) =>
  names.map((name) => ({ name, part })),
);

/** @returns what writes signals of a memory into a row that has room for all of them */
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
    for (const read of readers) for (const value of read(memory)) row[at++] = value;
  };
}
