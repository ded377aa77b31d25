import { createPause } from "../../../timing/pause.ts";
import type { Lease } from "../records.ts";

/** How the later one of two memories relates to the earlier one: it says the same, or it changes its fact. */
export type LikenessKind = "same" | "changed";

/** A pair of memories of one table. */
export interface Likeness {
  readonly later: string;
  readonly earlier: string;
  readonly kind: LikenessKind;
  /** The later `updatedAt` of both when they were compared. After another change the pair no longer counts. */
  readonly changedAt: number;
}

/** The memories before this position in a list, newest first, have been compared; `null` when all have been. */
export type ComparedTo = { readonly createdAt: number; readonly id: string } | null;

/** Where the comparison of a table stands. */
export interface ComparisonState {
  /** `undefined` if it has not begun. */
  readonly comparedTo: ComparedTo | undefined;
  /** The oldest parcel of memories that are to be compared again; `null` without one. */
  readonly parcel: { readonly number: number; readonly ids: readonly string[] } | null;
}

/** Memories of one parcel at most. */
const PARCEL = 250;
/** Pairs that one statement reads, and those that are read of a table at most. */
export const PAGE = 2_000;
const MOST = 50_000;

/** The likenesses of each table's memories. They contain ids, and no text. A table's removal removes them. */
export interface Likenesses {
  /** In the order of their ids. Of very many, the first ones. */
  all(table: string): Promise<Likeness[]>;
  state(table: string): Promise<ComparisonState>;
  /**
   * Notes memories that a flush brings into the base: which of them are to be compared, and whose likenesses no longer
   * hold. Noting them again does no harm.
   */
  note(table: string, toCompare: readonly string[], toDrop: readonly string[]): Promise<void>;
  /**
   * Records what comparing has found, each pair once, and that it is done. What is left of a parcel is compared later.
   * @param lease of the table, if several processes compare it
   * @returns false for a table that has no entry yet, or was removed meanwhile: nothing is recorded of it
   * @throws LeaseLost when another process may have dropped likenesses that were found
   */
  record(
    table: string,
    found: readonly Likeness[],
    done: { parcel: number; left: readonly string[] } | { comparedTo: ComparedTo },
    lease: Lease | null,
  ): Promise<boolean>;
  /** Drops everything about a table: its comparison begins again. */
  reset(table: string): Promise<void>;
}

/** Lists of at most so many ids, one for each statement. */
export function* parcelsOf(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += PARCEL) yield ids.slice(at, at + PARCEL);
}

/** Reads pairs in pages, and lets other work run between them. @param page reads those after a pair */
export async function readInPages(
  page: (after: Pick<Likeness, "later" | "earlier">) => Likeness[] | Promise<Likeness[]>,
): Promise<Likeness[]> {
  const all: Likeness[] = [];
  const pause = createPause();
  for (let hasMore = true; hasMore && all.length < MOST; ) {
    const next = await page(all.at(-1) ?? { later: "", earlier: "" });
    all.push(...next);
    hasMore = next.length === PAGE;
    await pause();
  }
  return all;
}
