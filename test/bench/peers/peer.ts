import type { NewMemory } from "../../../src/memories/model/memory.ts";

/** Results that a search asks for. */
export const LIMIT = 10;

/** A memory with what the embedding engine made of it: a long text has several passages. */
export interface EmbeddedMemory {
  readonly id: string;
  readonly memory: NewMemory;
  readonly passages: readonly { readonly text: string; readonly vector: Float32Array }[];
}

export interface Question {
  readonly text: string;
  readonly vector: Float32Array;
}

/** A program that one would use for memories, with the defaults of its documentation. */
export interface Peer {
  readonly name: string;
  /** Whether it searches by vectors that it is given: the engine's time, start and memory are then part of its figures. */
  readonly needsVectors: boolean;
  /** What it searches by, what a save promises, and who may read what. */
  readonly scope: string;
  /**
   * Starts it on what it has stored in a folder.
   * @throws Error when it doesn't run on this machine
   */
  start(folder: string): Promise<RunningPeer>;
}

/** A peer in a process of its own. Calls follow each other: it gets one at a time. */
export interface RunningPeer {
  readonly pid?: number;
  load(memories: readonly EmbeddedMemory[]): Promise<unknown>;
  save(memory: EmbeddedMemory): Promise<unknown>;
  /** @returns the answer as text, with the contents found */
  search(question: Question): Promise<string>;
  /** Resolves when it has no more work in the background. */
  settle?(): Promise<void>;
  /** Resolves when it has ended, and everything is in its folder. */
  stop(): Promise<void>;
}
