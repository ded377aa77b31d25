import type { Base } from "../base/base.ts";
import type { Lease } from "../log/records.ts";
import type { KeptTable } from "../table/table.ts";

/**
 * What earlier flushes of an open table have begun and not finished, and what the next one must know of
 * them. Moments are those of `performance.now()`.
 */
export interface FlushState {
  /** Bases that a newer one has replaced, and whose files may still exist. */
  readonly replaced: Set<string>;
  /**
   * A base whose checkpoint may or may not be recorded. It must be recorded before any other work.
   * `began` is when its flush began; null when it was written by none.
   */
  unrecorded: { base: Base; began: number | null } | null;
  /** The oldest deletion that a flush has taken out of the log, while the data may still be in files. */
  forgettingSince: number | null;
  /** Appends to the base since its last rewrite. */
  appended: { times: number; rows: number };
  /** Whether a failure may have left files in the base's folder that no checkpoint lists. */
  mustRewrite: boolean;
  /** The lease of the running chore, where several processes write to the table. */
  lease: Lease | null;
  /** The base that this process wrote last, and the epoch of its lease then. */
  written: { base: string; epoch: number } | null;
  /** Whether another process has recorded a base that this one does not read yet. */
  isBehind: boolean;
}

export function createFlushState(): FlushState {
  return {
    replaced: new Set(),
    unrecorded: null,
    forgettingSince: null,
    appended: { times: 0, rows: 0 },
    mustRewrite: false,
    lease: null,
    written: null,
    isBehind: false,
  };
}

/** Whether no other process has written to the base since this one did. */
export function isSoleWriter({ lease, written }: FlushState, base: Base | null): boolean {
  if (lease === null) return true;
  return written?.base === base?.checkpoint.base && written?.epoch === lease.epoch;
}

/** Whether the base lacks changes, or must be replaced. */
export function needsWrite(
  { mustRewrite }: FlushState,
  { pending, base }: Pick<KeptTable, "pending" | "base">,
): boolean {
  return pending.size > 0 || mustRewrite || base.current?.isUpToDate === false;
}

/** Whether a flush would write, record or remove anything. */
export function hasPendingWork(
  state: FlushState,
  table: Pick<KeptTable, "pending" | "base">,
): boolean {
  const isUnfinished = state.unrecorded !== null || state.replaced.size > 0;
  return needsWrite(state, table) || isUnfinished || state.forgettingSince !== null;
}
