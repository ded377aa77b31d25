import type { Decay } from "../../config/config.ts";
import type { EmbeddingModel, TokenStates } from "../../embedding/embedder.ts";
import { askedWords } from "../indexes/tokens.ts";
import type { Term } from "../indexes/words.ts";
import { contentWords, factTokens, isAsking, stemOf, UNSPACED } from "./fact-text.ts";
import { withCommonNouns, withEnglishNouns } from "./german.ts";
import { readPeriod } from "./period.ts";
import { readSeveral } from "./versions/apart.ts";
import { readAsked } from "./versions/asked-attribute.ts";

export const SEARCH_MODES = ["hybrid", "semantic", "keyword"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

const ASKS_WHEN =
  /\bwhen\b|\b(what|which) (date|day|month|year|time)\b|\bhow (long|old)\b|\bwann\b|\bseit wann\b|什么时候|什麼時候|何时|何時|几点|幾點|哪天|哪年|什么时间/iu;
const TOKEN = /[\p{L}\p{N}_][\p{L}\p{N}._:/#@-]*[\p{L}\p{N}]/gu;
/** Characters that occur only in numbers, paths, addresses and identifiers, which the index cuts into pieces. */
const IS_IDENTIFIER = /\p{N}|\p{Ll}\p{Lu}|[_:/#@.]/u;
/** Identifiers of a question that are searched at most: a pasted log has hundreds, and texts are long. */
const IDENTIFIERS = 8;
/**
 * Names and identifiers. The first word of a question is one only with another capital or a digit, as in "TSLint":
 * every first word begins with a capital.
 */
const NAME =
  /(?<=\S\s)\p{Lu}[\p{L}\p{N}_]+|(?<![\p{L}\p{N}_])\p{L}[\p{L}_]*(?:\p{Lu}|\p{N})[\p{L}\p{N}_]*/gu;

/** The most words of a subject. */
const SUBJECT_WORDS = 4;
/** Words of a question about something that no longer holds. */
const PAST =
  /\b(at first|initially|ursprünglich|anfangs|damals|used to|original(?:ly)?|previous(?:ly)?|former(?:ly)?|back then|in the past(?! tense)|in between(?=\W*$)|to begin with|(?:in|at) the (?:very )?(?:beginning|start)|began)\b/i;
/** Words that ask for the past unless the question is about a habit, such as what to do before a release. */
const MAYBE_PAST =
  /\b(by mistake|wrongly|before|first|use to|earlier|(?<!how )old|prior|früher|vorher|zuvor)\b/i;
/** Those of them that stand in no name, such as "the old mailer". */
const EARLIER = /\b(before|earlier|prior|früher|vorher|zuvor)\b/i;
/** What the person is about to do, as in "Before I write it down, …": the question is about now. */
const AHEAD = /^\W*before (?:i|we|you) [^,?]{1,80},/i;
const HABIT =
  /\b(do|does|should|shall|must|may|can|will|soll(?:te|en|ten)?|muss|müssen|darf|dürfen|kann|können|wird|werden|macht|mache[nr]?)\b/i;
/** In German they follow the subject, and "was" asks. */
const PASSED =
  /\b(did|didn't|was(?! (?:macht|muss|soll|kann|darf))|were|had|waren?|hatten?|hatte|galt(?:en)?)\b/i;
/** Words of a question about the first version. */
const FIRST =
  /\b(at first|first|initial(?:ly)?|ursprünglich|anfangs|original(?:ly)?|to begin with|(?:in|at) the (?:very )?(?:beginning|start)|began)\b/i;
const BEFORE = /\b(?:before|prior to)\b/i;
const TIME_WORD =
  /^(?:first|initial|initially|used|original|originally|previous|previously|former|formerly|back|beginning|start|began|earlier|old|prior|current|currently|now|today|latest|still|right|these|days|present)$/;

/** What a question says, apart from the words that an index knows. */
export type AskedText = ReturnType<typeof readQuestion>;

/**
 * Reads a question once, for all that rank by it.
 * @param now milliseconds since 1970
 */
export function readQuestion(text: string, now: number) {
  const asked = text.replace(AHEAD, "");
  const period = readPeriod(text, now);
  const isNoHabit = PASSED.test(asked) || !HABIT.test(asked);
  const tokens = (text.match(TOKEN) ?? []).filter((token) => IS_IDENTIFIER.test(token));
  const identifiers = new Set(tokens.map((token) => token.toLowerCase()));
  const isQuestion = isAsking(text);
  return {
    text,
    now,
    /** The period that it names, and its words; null for none. */
    period,
    periodWords: new Set(period ? askedWords(period.text).keys() : []),
    /** Whether words can be compared: they are separated by spaces. */
    hasWords: !UNSPACED.test(text),
    isQuestion,
    /** Whether it is a question, or a subject in a few words, and not a task. */
    asks: isQuestion || text.trim().split(/\s+/).length <= SUBJECT_WORDS,
    contentWords: new Set(contentWords(text)),
    /** Its words as those of facts. */
    facts: factTokens(withEnglishNouns(text)),
    /** The attribute that it names; see `readAsked`. */
    asked: readAsked(text),
    /** What it asks for several of; see `readSeveral`. */
    several: readSeveral(text),
    /** The stems of its names and identifiers. */
    names: [...withCommonNouns(text).matchAll(NAME)].map(([name]) => stemOf(name.toLowerCase())),
    /** Numbers, paths and identifiers, in lower case. */
    identifiers: [...identifiers].slice(0, IDENTIFIERS),
    asksWhen: ASKS_WHEN.test(text),
    /** Whether it asks for something that no longer holds, and for the first that did. */
    asksForPast: PAST.test(asked) || (MAYBE_PAST.test(asked) && isNoHabit),
    /** Whether it surely does, so that what was superseded is looked for, too. */
    asksForSuperseded: PAST.test(asked) || (EARLIER.test(asked) && isNoHabit),
    asksForFirst: FIRST.test(text),
    /** The stems after "before": "before Globex" asks for the version before the one that names Globex. */
    before: contentWords(text.split(BEFORE).slice(1).join(" ")).map(stemOf),
  };
}

/** The input of a ranking besides the memories. */
export interface Question extends AskedText {
  mode: SearchMode;
  model: Pick<EmbeddingModel, "cosines">;
  /** The words to search; none in a search by meaning alone. */
  terms: readonly Term[];
  /** The share of the question that the model knows, 0 to 1. */
  understood: number;
  /** Number of memories of the account, which decides how much the rareness of a word counts. */
  memories: number;
  /** `null` ignores age. */
  decay: Decay | null;
}

/** The words of a question by which results are compared, without those that only ask for the past. */
export function wordsToCompare({ words }: Pick<TokenStates, "words">): string[] {
  return [...new Set(words)].filter((word) => !TIME_WORD.test(word));
}
