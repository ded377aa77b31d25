import type { TextSource } from "../files/source.ts";
import type { ProjectOf } from "../transcripts/folders.ts";

/** A memory in the export of another program. */
export interface SourceMemory {
  content: string;
  /** Its subject, which is put before the text, and before each part of a long text. */
  subject?: string | null;
  /**
   * Identifies the memory within its source, and is the same in every export: the program's own id if
   * there is one. Default: the content.
   */
  key?: string | undefined;
  tags?: unknown;
  agent?: unknown;
  session?: unknown;
  project?: unknown;
  metadata?: unknown;
  /** 0 to 1. */
  importance?: unknown;
  /** Text in ISO 8601, or seconds or milliseconds since 1970. */
  createdAt?: unknown;
  updatedAt?: unknown;
  expiresAt?: unknown;
}

/** What a reader makes of an entry. */
export type EntryResult =
  | { memory: SourceMemory }
  /** A memory in ctxd's own export, as JSON. */
  | { line: string }
  /** Why the entry can't be imported: the end of a sentence. */
  | { problem: string }
  /** Why the entry is left out on purpose: a plural, such as `rows without a text`. */
  | { leftOut: string };

/** An entry of a source. `at` is its location, such as `line 3`. */
export type FoundEntry = { at: string } & EntryResult;

/** Information that the files of an export share. */
export interface Context {
  /** Names of projects by their ids. */
  projects: Map<string, string>;
  /** The project of a folder on this machine; null when it has none. */
  projectOf: ProjectOf;
}

/** A file format with memories. */
export interface Format {
  /** Describes such a file to people. */
  name: string;
  /** Namespace of the memories' keys. Changing it turns every memory into a new one. */
  origin: string;
  /** Whether a source has this format, by its beginning and its name. */
  recognises(head: string, name: string): boolean;
  read(source: TextSource, context: Context): AsyncGenerator<FoundEntry>;
}
