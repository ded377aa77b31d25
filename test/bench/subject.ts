import { type Embedder, MAX_STATES, STATE_BYTES } from "../../src/embedding/embedder.ts";
import type { NewMemory } from "../../src/memories/model/memory.ts";
import { contentWords } from "../../src/memories/ranking/fact-text.ts";
import type { BenchClient } from "./client.ts";
import { MIB } from "./footprint.ts";
import type { Sentences } from "./sentences.ts";
import type { Folders, ServerProcess } from "./server-process.ts";

/** What a measurement works with. */
export interface Subject {
  readonly server: ServerProcess;
  readonly client: BenchClient;
  readonly folders: Folders;
  /** The engine in this process: it embeds while the server is idle, which gives the floor. */
  readonly engine: Embedder;
  readonly sentences: Sentences;
  readonly stored: Stored;
}

/** What the server has been given so far. */
export interface Stored {
  readonly memories: number;
  /**
   * MiB of all contents, of one vector each, though a long content has several, and of the states of
   * their words, though one word may have several.
   */
  readonly mib: number;
  add(memories: readonly NewMemory[]): void;
}

/** @param dimension numbers in a vector, four bytes each */
export function createStored(dimension: number): Stored {
  let memories = 0;
  let bytes = 0;
  return {
    get memories() {
      return memories;
    },
    get mib() {
      return bytes / MIB;
    },
    add(added) {
      memories += added.length;
      for (const { content } of added) {
        const states = Math.min(MAX_STATES, contentWords(content).length);
        bytes += Buffer.byteLength(content) + 4 * dimension + states * STATE_BYTES;
      }
    },
  };
}
