import type { ReadFile, SourceLine } from "./read-files.ts";

/** What the reading thread is told: to begin, and that what it has sent was taken. */
export type ToReader =
  | { type: "read"; files: { name: string; called: string; file: File }[]; project: string | null }
  | { type: "more" };

/** What it says: some lines at a time, then how it ended. */
export type FromReader =
  | { type: "lines"; lines: SourceLine[]; about: ReadingState }
  | { type: "done"; about: ReadingState }
  /** `problem` is that of a `SourceError`; null for a mistake in the program. */
  | { type: "failed"; name: string; problem: string | null; message: string; about: ReadingState };

export interface ReadingState {
  files: ReadFile[];
  leftOut: [string, number][];
  share: number | null;
}
