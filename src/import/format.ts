import type { TextSource } from "./source.ts";

/** A memory as another program keeps it. */
export interface SourceMemory {
  content: string;
  /**
   * What tells it from the others of its source, and stays when it is exported again: its id there,
   * where it has one. By default its content.
   */
  key?: string | undefined;
  tags?: unknown;
  agent?: unknown;
  session?: unknown;
  metadata?: unknown;
  /** Text in ISO 8601, or seconds or milliseconds since 1970. */
  createdAt?: unknown;
  updatedAt?: unknown;
}

/** What is found at a place of a source, which is told as a person would look for it. */
export type Found = { at: string } & (
  | { memory: SourceMemory }
  /** One that is exported by ctxd, as JSON. */
  | { line: string }
  /** Why what is there can't be imported. */
  | { problem: string }
);

/** A kind of file that memories are in. */
export interface Format {
  /** For people: what the file is. */
  name: string;
  /** What the keys of its memories belong to. Changing it makes them other memories. */
  origin: string;
  /** Whether a source is of this kind, by its beginning. */
  recognises(head: string): boolean;
  read(source: TextSource): AsyncGenerator<Found>;
}
