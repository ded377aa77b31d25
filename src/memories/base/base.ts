import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Filter, PageStart, Position } from "../filter.ts";
import type { Checkpoint } from "../log/log.ts";
import type { Expiring, MemoryRow, StoredMemory } from "../rows.ts";

/** A base that is open: one LanceDB table, at the version of its checkpoint. */
export interface Base {
  readonly checkpoint: Checkpoint;
  /** What made its vectors, as the table itself says. */
  readonly model: EmbeddingModel;
  /** Rows: one for each passage. */
  readonly rows: number;
  /** Whether it has all columns of this version of the program. */
  readonly isUpToDate: boolean;
  /** Whether it has the indexes that `search` needs. */
  readonly isIndexed: boolean;
  /** Memories by id, in no order; those that aren't there are left out. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** The same with their vectors. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  /** The states of memories by their ids; of those that an earlier version wrote, there are none. */
  states(ids: readonly string[]): Promise<Map<string, Int8Array>>;
  /**
   * All memories with their vectors, a batch at a time, as they are at one moment.
   * @param withStates whether with their states too
   */
  read(withStates?: boolean): AsyncGenerator<StoredMemory[]>;
  /** Memories without vectors, a batch at a time. */
  scan(): AsyncGenerator<MemoryRow[]>;
  /**
   * Positions of memories, newest first, from a place of that order on; all of them without a limit.
   * @param except ids that are left out
   */
  list(
    filter: Filter,
    options: { from: PageStart | null; limit?: number; except: readonly string[] },
  ): Promise<Position[]>;
  /**
   * Memories that expire, the first to do so first.
   * @param except ids that are left out
   */
  expiring(limit: number, except: readonly string[]): Promise<Expiring[]>;
  /**
   * Memories that a search has to consider: those with the nearest passages, and those that match
   * words best, with their vectors.
   */
  search(question: BaseQuestion): Promise<StoredMemory[]>;
  /** Memories of sessions (of very long ones a part), with their vectors. */
  ofSessions(
    sessions: readonly string[],
    filter: Filter,
    except: readonly string[],
  ): Promise<StoredMemory[]>;
  /** In how many memories each of some words is, as `tokensOf` has them. */
  countTexts(words: readonly string[], filter?: Filter): Promise<Map<string, number>>;
  /** How many memories a filter lets pass. */
  count(filter: Filter): Promise<number>;
  /** Words that one which no memory has may stand for; see `NearWords`. */
  nearWords(word: string): Promise<Map<string, number>>;
  close(): void;
}

export interface BaseQuestion {
  /** `null` where only words are asked for. */
  vector: Float32Array | null;
  /** As `tokensOf` has them; none where only the meaning is asked for. */
  words: readonly string[];
  filter: Filter;
  /** Of each kind, how many are wanted. */
  limit: number;
  /** Different memories that the meaning brings at the least, if there are so many. */
  least?: number;
  /** Ids of memories that are left out. */
  except: readonly string[];
}

/** Opens and writes bases. The only interface to LanceDB. */
export interface Bases {
  /** Opens the base of a checkpoint, whose files are there (see `Vault.restore`). */
  open(checkpoint: Checkpoint): Promise<Base>;
  /**
   * Adds rows to a base in one commit, and makes its files durable. Rows of these memories must not
   * be there. When it fails the base stays usable at its checkpoint, and is to be rewritten next.
   * @param upTo number of the last entry that the result includes
   * @returns what is to be recorded
   */
  append(base: Base, added: readonly StoredMemory[], upTo: number): Promise<Checkpoint>;
  /**
   * Writes the live rows of a base as a new table in a new folder, and makes its files durable. The
   * old one stays as it is. What was removed or replaced is nowhere in the new one.
   * @param former null where there is none yet
   * @param changes what becomes of memories: another state, or `null` for those that go
   */
  rewrite(
    table: string,
    former: Base | null,
    changes: ReadonlyMap<string, StoredMemory | null>,
    options: { upTo: number; model: EmbeddingModel },
  ): Promise<Checkpoint>;
  /**
   * Makes the indexes that a base needs to be searched by itself, and makes their files durable.
   * @param withVectors also that of vectors, which takes as much space as they do
   */
  index(base: Base, withVectors: boolean): Promise<Checkpoint>;
}

/** Memories that a change of a table comes to, encoded for the log, and back. */
export interface MemoryCodec {
  encode(memories: readonly StoredMemory[], model: EmbeddingModel): Uint8Array;
  decode(bytes: Uint8Array): StoredMemory[];
}
