import type { VectorIndex } from "../indexes/vectors.ts";
import type { WordIndex } from "../indexes/words.ts";
import type { Candidate } from "../model/rows.ts";
import type { Columns } from "./columns.ts";
import type { SessionQuestion, View, WordMatches } from "./view.ts";

const NO_MATCHES = new Float32Array(0);

/**
 * The candidates of searches in a view.
 * @param changes how often the view has changed
 */
export function createCandidates({
  columns,
  vectors,
  words,
  changes,
}: {
  columns: Columns;
  vectors: VectorIndex;
  words: WordIndex;
  changes: () => number;
}): Pick<View, "matchWords" | "candidates" | "ofSessions"> {
  const candidatesOf = (
    slots: readonly number[],
    { vector, terms }: Pick<SessionQuestion, "vector" | "terms">,
  ) => {
    const products = vector && vectors.products(vector, slots);
    const matches = words.matches(terms, slots);
    return slots.map(
      (slot, at): Candidate => ({
        memory: columns.cachedRow(slot),
        cosine: products?.[at]?.product ?? null,
        passage: products?.[at]?.nth ?? 0,
        matches: matches[at] ?? NO_MATCHES,
      }),
    );
  };

  const matchWords: View["matchWords"] = ({ words: question, filter, limit, corpus }) => {
    const accepts = columns.accepts(filter);
    const among = corpus === undefined ? columns.among(filter) : undefined;
    const terms = question === null ? [] : words.terms(question, corpus, among);
    const slots = words.matching(terms, { count: limit, accepts });
    // Caches the rows.
    for (const slot of slots) columns.cachedRow(slot);
    return { terms, slots, memories: among?.texts, changes: changes() };
  };

  return {
    matchWords,

    candidates({ vector, ...question }, matched?: WordMatches) {
      const isCurrent = matched?.changes === changes();
      const { terms, slots, memories } = isCurrent ? matched : matchWords(question);
      const { filter, limit, least } = question;
      const found = vector
        ? vectors.nearest(vector, { count: limit, least, accepts: columns.accepts(filter) })
        : new Set<number>();
      for (const slot of slots) found.add(slot);
      const candidates = candidatesOf([...found], { vector, terms });
      return { candidates, terms, ...(memories !== undefined && { memories }) };
    },

    ofSessions(sessions, { filter, ...question }, limit) {
      const accepts = columns.accepts(filter);
      const found: number[] = [];
      for (const session of new Set(sessions)) {
        found.push(...columns.ofSession(session, accepts, limit - found.length));
      }
      return candidatesOf(found, question);
    },
  };
}
