import { dotProduct } from "../compact-vector.ts";
import type { Candidate, SearchRow } from "../rows.ts";

/** Fills in the cosine of a candidate's own vector, for what looks at it more than once. */
export function withCosine(query: Float32Array | null): (candidate: Candidate) => Candidate {
  return (candidate) => ({ ...candidate, cosine: cosineOf(candidate, query) });
}

/** `null` where there is nothing to compare. */
export function cosineOf(
  { cosine = null, vector }: Pick<SearchRow, "vector"> & Partial<Pick<Candidate, "cosine">>,
  query: Float32Array | null,
): number | null {
  return cosine ?? (vector && query ? dotProduct(vector, query) : null);
}
