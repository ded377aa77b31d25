import { dotProduct } from "../compact-vector.ts";
import type { Candidate, SearchRow } from "../rows.ts";

/** Fills in the cosines of candidates' own vectors, for what looks at them more than once. */
export function fillCosines(candidates: readonly Candidate[], query: Float32Array | null): void {
  for (const candidate of candidates) candidate.cosine = cosineOf(candidate, query);
}

/** `null` where there is nothing to compare. */
export function cosineOf(
  { cosine = null, vector }: Pick<SearchRow, "vector"> & Partial<Pick<Candidate, "cosine">>,
  query: Float32Array | null,
): number | null {
  return cosine ?? (vector && query ? dotProduct(vector, query) : null);
}
