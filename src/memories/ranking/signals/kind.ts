import type { Considered } from "../considered.ts";
import type { Question } from "../question.ts";

/** What of a memory an explanation names. */
export const PARTS = ["meaning", "words", "session", "wording", "time", "length"] as const;
export type Part = (typeof PARTS)[number];

/**
 * Signals of one kind: numbers that tell how well a memory answers. Each is 0 where it does not apply, so
 * that it is neither for nor against the memory.
 */
export interface Kind<Name extends string = string> {
  readonly part: Part;
  readonly names: readonly Name[];
  /** Reads a question once, and returns what reads the signals of a memory. */
  read(question: Question, all: readonly Considered[]): (memory: Considered) => readonly number[];
}
