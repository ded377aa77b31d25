import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Checkpoint } from "../log/records.ts";
import type { Filter, Order, PageStart, Position } from "../model/filter.ts";
import type { Expiring, MemoryRow, StoredMemory } from "../model/rows.ts";

/**
 * A table is large from this many rows on: rewriting it, or reading it into memory, takes more than a few hundred
 * milliseconds.
 */
export const LARGE_ROWS = 10_000;

/** An open base: one LanceDB table at the version of its checkpoint. */
export interface Base {
  readonly checkpoint: Checkpoint;
  /** The model of its vectors, as the LanceDB table records it. */
  readonly model: EmbeddingModel;
  /** Rows: one for each passage. */
  readonly rows: number;
  /** Whether it has all columns of this version of the program. */
  readonly isUpToDate: boolean;
  /** Whether it has the indexes that `search` needs. */
  readonly isIndexed: boolean;
  /** Memories by id, in no order, without those that the base lacks. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** The same memories with their vectors. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  /** Token states by the ids of memories. Memories written by early versions have none. */
  states(ids: readonly string[]): Promise<Map<string, Int8Array>>;
  /** The vectors of first passages by the ids of memories. */
  firstVectors(ids: readonly string[]): Promise<Map<string, Float32Array>>;
  /**
   * All memories of one version with their vectors, a batch at a time.
   * @param withStates whether token states are read too
   */
  read(withStates?: boolean): AsyncGenerator<StoredMemory[]>;
  /** Memories without vectors, a batch at a time. */
  scan(): AsyncGenerator<MemoryRow[]>;
  /**
   * Positions of memories, from a place in the order: newest first by default. Without a limit, all of them.
   * @param except ids to exclude
   */
  list(
    filter: Filter,
    options: { from: PageStart | null; limit?: number; except: readonly string[]; order?: Order },
  ): Promise<Position[]>;
  /**
   * Memories that expire, the earliest first.
   * @param except ids to exclude
   */
  expiring(limit: number, except: readonly string[]): Promise<Expiring[]>;
  /**
   * The candidates of a search with their vectors: memories with the nearest passages, and memories that match
   * its words best.
   */
  search(question: BaseQuestion): Promise<StoredMemory[]>;
  /** Memories of sessions with their vectors; at most 512. */
  ofSessions(
    sessions: readonly string[],
    filter: Filter,
    except: readonly string[],
  ): Promise<StoredMemory[]>;
  /** How many memories contain each of some words. The words come from `tokensOf`. */
  countTexts(words: readonly string[], filter?: Filter): Promise<Map<string, number>>;
  /** How many memories a filter lets pass. */
  count(filter: Filter): Promise<number>;
  /** Words that resemble a word which no memory has; see `NearWords`. */
  nearWords(word: string): Promise<Map<string, number>>;
  close(): void;
}

export interface BaseQuestion {
  /** `null` for a search by words alone. */
  vector: Float32Array | null;
  /** From `tokensOf`; empty for a search by meaning alone. */
  words: readonly string[];
  filter: Filter;
  /** How many passages the meaning finds, and how many memories the words find. */
  limit: number;
  /** How many different memories the meaning finds at least, if the base has enough. */
  least?: number;
  /** Ids of memories to exclude. */
  except: readonly string[];
}

/** Opens and writes bases. The only interface to LanceDB. */
export interface Bases {
  /** Opens the base of a checkpoint. Its files must exist: see `Vault.restore`. */
  open(checkpoint: Checkpoint): Promise<Base>;
  /**
   * Adds memories to a base and makes its files durable. The base must not contain these memories. If this
   * fails, the base stays usable at its checkpoint, and the next flush must be a rewrite.
   * @param upTo number of the last entry that the result includes
   * @returns the checkpoint to record
   */
  append(base: Base, added: readonly StoredMemory[], upTo: number): Promise<Checkpoint>;
  /**
   * Writes the live rows of a base as a new base in a new folder, and makes its files durable. The former base
   * does not change. The new one contains nothing of removed or replaced memories.
   * @param former `null` for the first base of a table
   * @param changes the new state of each changed memory; `null` for a removed one
   */
  rewrite(
    table: string,
    former: Base | null,
    changes: ReadonlyMap<string, StoredMemory | null>,
    options: { upTo: number; model: EmbeddingModel },
  ): Promise<Checkpoint>;
  /**
   * Makes the indexes that a search of the base needs, and makes their files durable.
   * @param withVectors whether to index vectors too, which takes as much space as the vectors
   */
  index(base: Base, withVectors: boolean): Promise<Checkpoint>;
}

/** Encodes the memories of an entry for the log, and decodes them. */
export interface MemoryCodec {
  encode(memories: readonly StoredMemory[], model: EmbeddingModel): Uint8Array;
  decode(bytes: Uint8Array): StoredMemory[];
}

/** A model of which only name and dimension are known. */
export function modelNamed(id: string, dimension: number): EmbeddingModel {
  return { id, dimension, cosines: { unrelated: 0.5, same: 1 } };
}

/** The base of a table. A flush replaces it while reads of the former base finish. */
export type HeldBase = ReturnType<typeof holdBase>;

export function holdBase(first: Base | null) {
  let current = first;
  let readers = new Set<Promise<unknown>>();

  return {
    get current() {
      return current;
    },

    /** Reads the base, which stays open meanwhile. Returns `absent` when there is no base. */
    async read<Result>(task: (base: Base) => Promise<Result>, absent: Result): Promise<Result> {
      if (!current) return absent;
      const ofThisBase = readers;
      const reading = task(current);
      const ended = reading.then(
        () => {},
        () => {},
      );
      ofThisBase.add(ended);
      void ended.then(() => ofThisBase.delete(ended));
      return await reading;
    },

    /** Reads batches of the base, which stays open until all have been read. */
    async *stream<Batch>(task: (base: Base) => AsyncIterable<Batch>): AsyncGenerator<Batch> {
      if (!current) return;
      const ofThisBase = readers;
      const reading = Promise.withResolvers<void>();
      ofThisBase.add(reading.promise);
      try {
        yield* task(current);
      } finally {
        ofThisBase.delete(reading.promise);
        reading.resolve();
      }
    },

    /** Replaces the base. Resolves when no read uses the former one. */
    async replace(next: Base | null): Promise<void> {
      const [former, ofFormer] = [current, readers];
      [current, readers] = [next, new Set()];
      await Promise.all(ofFormer);
      if (former !== next) former?.close();
    },
  };
}
