import type { Answer, Lease } from "../log/records.ts";
import type { Filter } from "../model/filter.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import type { Draft } from "./draft.ts";

/** What a change reads, and what it answers. */
interface ChangeInput {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  /** Whether `apply` reads their vectors too. */
  withVectors?: boolean;
  /** Whether `apply` reads the memories linked with them (`near`), or their whole histories (`chain`). */
  links?: "near" | "chain" | undefined;
  /** Memories whose duplicates `apply` asks for. */
  withTextsOf?: readonly StoredMemory[];
  /** The answer to record for a request with an `Idempotency-Key`, if the change is made. */
  answer?: Answer | undefined;
  /** The lease of a copy that this change is part of. Without the lease, the change is not made. */
  lease?: Lease | undefined;
}

/** A change of single memories. If `apply` throws, this change fails and the others are made. */
export interface Change<Result> extends ChangeInput {
  apply(draft: Draft): Result;
}

/** A change that waits for its commit. */
export interface QueuedChange extends ChangeInput {
  /** Removes memories that match this filter, besides what `apply` does; see `MAX_REMOVED`. */
  filter: Filter | null;
  /** Whether this change may relink a memory that is linked with removed ones; by default all. */
  mayRelink?: ((memory: MemoryRow) => boolean) | undefined;
  apply(draft: Draft): void;
  /**
   * @param removed the number of memories that the filter removed
   * @param left the number of others that match it
   */
  done(removed: number, left: number): void;
  fail(error: unknown): void;
}
