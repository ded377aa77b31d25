import type { Usage } from "../model/quota.ts";

export interface CurrentTable {
  name: string;
  /** Identity of the embedding model; `null` if an earlier version has not recorded it. */
  model: string | null;
}

/** A change of one table. It is committed completely or not at all. */
export interface Entry {
  /** Identity of the model of its vectors. The first entry of an account makes its table the current one. */
  model: string;
  /** Added and replaced memories, encoded by the `MemoryCodec`. */
  written: Uint8Array | null;
  /** Ids of memories removed. */
  removed: readonly string[];
  /** Whether the entry replaces or removes earlier data, which must leave the files. */
  leavesOldData: boolean;
  /** What the table holds after this entry. */
  usage: Usage;
  /** When the first of the written memories expires; `null` if none does. */
  expiresAt?: number | null;
  /** Answers of requests with an `Idempotency-Key`. Each replaces an expired answer with the same key. */
  answers: readonly Answer[];
  /** For tables that several processes write to. */
  shared?: SharedEntry;
}

export interface LoggedEntry extends Pick<Entry, "written" | "leavesOldData"> {
  seq: number;
  removed: string[];
}

/** The memories that a request with an `Idempotency-Key` created. */
export interface Answer {
  accountId: string;
  keyHash: string;
  requestHash: string;
  memoryIds: string[];
  /** Milliseconds since 1970. */
  createdAt: number;
}

export interface Head {
  /** Number of the newest entry. */
  seq: number;
  /** What the table holds; `null` if an earlier version of this program has not counted it. */
  usage: Usage | null;
  checkpoint: Checkpoint | null;
}

/** A durable base. The table consists of this base and the entries after `upTo`. */
export interface Checkpoint {
  /** Name of the base's folder, without its ending. */
  base: string;
  /** The version of the LanceDB table. */
  version: number;
  /** All files of that version, relative to the base's folder. LanceDB never changes a file. */
  files: string[];
  /** Number of the last entry that the base includes. */
  upTo: number;
}

type BaseVersion = Pick<Checkpoint, "base" | "version">;

/** Whether two checkpoints name the same version of the same base, or both are missing. */
export function isSameBase(
  one: BaseVersion | null | undefined,
  other: BaseVersion | null | undefined,
): boolean {
  return one?.base === other?.base && one?.version === other?.version;
}

/** Further fields of an entry in a table that several processes write to. */
interface SharedEntry {
  /** Identifies the entry, so that it can be found when the outcome of its commit is unknown. */
  id: string;
  /** Number of the entry that it follows. */
  after: number;
  /** The lease for copying, if the table is a copy. Without it, the copy must not be changed. */
  lease?: Lease;
}

/** The right of one owner to work on a table in the background. */
export interface Lease {
  table: string;
  owner: string;
  /** Rises with every new owner. */
  epoch: number;
}
