import type { Considered } from "../considered.ts";
import type { Question } from "../question.ts";

/**
 * The parts of a score that an explanation names. Several kinds of signals can share a part. A new part also needs a
 * field of `Explanation` in `found-memory.ts` and a label in `src/dashboard/memories/memory-item.tsx`.
 */
export const PARTS = ["meaning", "words", "session", "wording", "time", "length"] as const;
export type ScorePart = (typeof PARTS)[number];

/**
 * Writes the signals of a memory into a row from a place on. The row has zeros there. Hundreds of memories are ranked for a
 * question, so each has one row and no other array.
 */
export type WriteSignals = (memory: Considered, row: Float64Array, from: number) => void;

/**
 * Signals of one kind: numbers that tell how well a memory answers. A signal is 0 where it does not apply; then it
 * counts neither for nor against the memory.
 */
export interface Kind<Name extends string = string> {
  /** The part of the score to which its signals add. */
  readonly part: ScorePart;
  readonly names: readonly Name[];
  /** Reads a question once, and returns a function that writes the signals of a memory. */
  read(question: Question, all: readonly Considered[]): WriteSignals;
}
