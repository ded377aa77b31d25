import type { TextSource } from "./source.ts";

/** A memory as another program keeps it. */
export interface SourceMemory {
  content: string;
  /** What it is about: said before the text, in each part of a long one. */
  subject?: string | null;
  /**
   * What tells it from the others of its source, and stays when it is exported again: its id there,
   * where it has one. By default its content.
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

/** What is found at a place of a source, which is told as a person would look for it. */
export type Found = { at: string } & (
  | { memory: SourceMemory }
  /** One that is exported by ctxd, as JSON. */
  | { line: string }
  /** Why what is there can't be imported. */
  | { problem: string }
  /** Why what is there is left out on purpose. */
  | { leftOut: string }
);

/** What one file of an export tells about the others. */
export interface Context {
  /** Names of projects by their ids. */
  projects: Map<string, string>;
  /** The project of a folder of this machine; null when it has none. */
  projectOf: (folder: string) => string | null;
}

/** A kind of file that memories are in. */
export interface Format {
  /** For people: what the file is. */
  name: string;
  /** What the keys of its memories belong to. Changing it makes them other memories. */
  origin: string;
  /** Whether a source is of this kind, by its beginning and its name. */
  recognises(head: string, name: string): boolean;
  read(source: TextSource, context: Context): AsyncGenerator<Found>;
}
