import type { TokenStates } from "../../embedding/embedder.ts";
import { contentWords, type FactMemory, stemOf } from "./fact-text.ts";

/** Words of a question about something that no longer holds. */
const PAST =
  /\b(at first|initially|used to|original(?:ly)?|previous(?:ly)?|former(?:ly)?|back then|(?:in|at) the (?:beginning|start)|began)\b/i;
/** Words that ask for the past unless the question is about a habit, such as what to do before a release. */
const MAYBE_PAST = /\b(before|first|use to|earlier|(?<!how )old|prior)\b/i;
const HABIT = /\b(do|does|should|shall|must|may|can|will)\b/i;
const PASSED = /\b(did|didn't|was|were|had)\b/i;
/** Words of a question about the first version. */
const FIRST =
  /\b(at first|first|initial(?:ly)?|original(?:ly)?|(?:in|at) the (?:beginning|start)|began)\b/i;
const BEFORE = /\bbefore\b(.*)$/i;
const TIME_WORD =
  /^(?:first|initial|initially|used|original|originally|previous|previously|former|formerly|back|beginning|start|began|earlier|old|prior|current|currently|now|today|latest|still|right|these|days|present)$/;

/** The words of a question by which results are compared, without those that only ask for the past. */
export function wordsToCompare({ words }: Pick<TokenStates, "words">): string[] {
  return [...new Set(words)].filter((word) => !TIME_WORD.test(word));
}

/** Whether a question asks for something that no longer holds. */
export function asksForPast(question: string): boolean {
  if (PAST.test(question)) return true;
  return MAYBE_PAST.test(question) && (PASSED.test(question) || !HABIT.test(question));
}

/** The version that a question asks for. @param versions the oldest first */
export function chooseVersion<Result extends { memory: FactMemory }>(
  question: string,
  versions: readonly Result[],
): Result | undefined {
  if (!asksForPast(question)) return versions.at(-1);
  if (FIRST.test(question)) return versions[0];
  // "before Globex" asks for the version before the one that names Globex.
  const [, what = ""] = BEFORE.exec(question) ?? [];
  const stems = contentWords(what).map(stemOf);
  const has = ({ memory }: Result, stem: string) => memory.content.toLowerCase().includes(stem);
  const named = versions.findIndex((version, at) => {
    const [first = version] = versions;
    return at > 0 && stems.some((stem) => has(version, stem) && !has(first, stem));
  });
  return named > 0 ? versions[named - 1] : versions.at(-2);
}
