import type { Considered } from "../considered.ts";
import type { Question } from "../question.ts";
import type { Kind, Part } from "./kind.ts";
import { length } from "./length.ts";
import { meaning } from "./meaning.ts";
import { reply, session } from "./session.ts";
import { time } from "./time.ts";
import { wording } from "./wording.ts";
import { words } from "./words.ts";

/** Those that take little time, and are computed for all memories that are ranked. */
export const CHEAP: readonly Kind[] = [meaning, words, length, session, time];
/** Those for which a text has to be read: for the best memories only, and 0 for the others. */
export const DEAR: readonly Kind[] = [reply, wording];

/** All signals, in the order in which they are kept, with the part of an explanation they count to. */
export const SIGNALS: readonly { name: string; part: Part }[] = [...CHEAP, ...DEAR].flatMap(
  ({ names, part }) => names.map((name) => ({ name, part })),
);

const DEAR_FROM = CHEAP.flatMap(({ names }) => names).length;

/** @returns what writes signals of a memory into a row that has room for all of them */
export function signalReader(
  kinds: typeof CHEAP | typeof DEAR,
  question: Question,
  all: readonly Considered[],
): (memory: Considered, row: Float64Array) => void {
  const readers = kinds.map((kind) => kind.read(question, all));
  const from = kinds === DEAR ? DEAR_FROM : 0;
  return (memory, row) => {
    let at = from;
    for (const read of readers) for (const value of read(memory)) row[at++] = value;
  };
}
