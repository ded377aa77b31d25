import type { ReadFile, SourceLine } from "./read-files.ts";

/** Messages to the worker: the files to read, or that the last lines were processed. */
export type ToReader =
  | { type: "read"; files: { name: string; called: string; file: File }[]; project: string | null }
  | { type: "more" };

/** Messages from the worker: lines, then how the reading ended. */
export type FromReader =
  | { type: "lines"; lines: SourceLine[]; state: ReadingState }
  | { type: "done"; state: ReadingState }
  /** `problem` is that of a `SourceError`; null for an unexpected error. */
  | { type: "failed"; name: string; problem: string | null; message: string; state: ReadingState };

/** The fields of `Reading` without its lines, in a form that can be posted. */
export interface ReadingState {
  /** The files from the number `from` on. Those before it are as they were. */
  files: ReadFile[];
  from: number;
  leftOut: [string, number][];
  share: number | null;
}
