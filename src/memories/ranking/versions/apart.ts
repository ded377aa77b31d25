import type { MemoryRow } from "../../model/rows.ts";
import { type FactMemory, factOf, isAsking } from "../fact-text.ts";

/** What follows the noun that a question asks for: else its last word may be a verb, as in "which tool formats the code". */
const BEFORE_VERB =
  "(?=\\s+(?:do|does|did|is|are|has|have|had|can|could|should|will|would|must|may|we|i|you|he|she|they|there)\\b|\\W*$)";
const BEFORE_PLACE = "(?=\\s+(?:of|for|in|on|to|at|with|about|from)\\b|\\W*$)";
const NOUN = "((?:[\\p{L}\\p{N}-]+\\s+){0,2}?\\p{L}+)";
const ARTICLE = "(?:(?:the|my|our|your|\\p{L}+['’]s) )?";
/** Where a question names what it asks for. */
const ASKED = [
  `\\b(?:which|what|any) ${NOUN}${BEFORE_VERB}`,
  `\\bwhich (\\p{L}+)${BEFORE_PLACE}`,
  `\\b(?:what|who|where|which) are ${ARTICLE}${NOUN}${BEFORE_PLACE}`,
  `^where \\b.*\\bhave ${NOUN}\\W*$`,
].map((pattern) => new RegExp(pattern, "iu"));
const SUBJECT = new RegExp(`^${ARTICLE}${NOUN}${BEFORE_PLACE}`, "iu");
const GERMAN =
  /\b(?:[Ww]elche(?: \p{Ll}+)?|(?:[Ww]as|[Ww]er|[Ww]o) sind(?: (?:die|meine|unsere))?) (\p{Lu}\p{Ll}+)/u;
/** An English noun for several things, and a German one. Names of products end so too, but have a capital. */
const PLURAL = /^(?:\p{Ll}{2,}(?<![sui])s|people|children|\p{Lu}\p{Ll}+(?:en|s))$/u;
const NO_PLURAL =
  /^(?:news|series|always|does|has|was|alias|canvas|gas|lens|means|Postgres|Jenkins)$/i;

/** The noun for several things that a question asks for, such as the "ideas" of "gift ideas for Mia"; null for none. */
export function readSeveral(text: string): string | null {
  const nouns = [...ASKED, GERMAN].flatMap((pattern) => pattern.exec(text)?.[1] ?? []);
  if (!isAsking(text)) nouns.push(SUBJECT.exec(text)?.[1] ?? "");
  const heads = nouns.map((noun) => noun.split(/\s/).at(-1) ?? "");
  return heads.find((word) => PLURAL.test(word) && !NO_PLURAL.test(word))?.toLowerCase() ?? null;
}

type Apart = FactMemory & Partial<Pick<MemoryRow, "project">>;

/**
 * Whether two memories that look like versions of one fact are two facts: unless the newer one says that something has changed,
 * two of several that are asked for, such as two allergies, and what two projects have, such as a port. What is about the person
 * holds in all projects.
 * @param several from `readSeveral`. Memories that have this word tell all of them at once
 */
export function areApart(several: string | null, one: Apart, other: Apart): boolean {
  const newer = factOf(one.createdAt < other.createdAt ? other : one);
  if (newer.retracts || newer.changed) return false;
  const hasAll = ({ content }: Apart) => content.toLowerCase().includes(several ?? "");
  if (several !== null && !hasAll(one) && !hasAll(other)) return true;
  const areOfTwo = one.project && other.project && one.project !== other.project;
  return Boolean(areOfTwo) && !newer.isOwn;
}
