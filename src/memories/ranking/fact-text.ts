import { withPlainAmounts, withPlainHours } from "../../text/amounts.ts";
import { STOP_WORDS } from "../../text/stop-words.ts";
import type { MemoryRow } from "../model/rows.ts";
import { withEnglishNouns, withEnglishWords } from "./german.ts";

const ALL_STOP_WORDS = new Set(STOP_WORDS);
const WORD = /[\p{L}\p{N}]+/gu;

/** The content words of a text, in lower case and in their order. */
export function contentWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((word) => !ALL_STOP_WORDS.has(word));
}

/** Scripts without spaces between words: without words, facts can't be compared. */
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Most letters of an ending, and fewest letters of a stem. */
const ENDING = 3;
const STEM = 4;

/** An approximate stem: the start that the forms of a word share. */
export function stemOf(word: string): string {
  return word.slice(0, Math.max(STEM, word.length - ENDING));
}

/** Length from which on a memory says too much to be a single fact, in UTF-16 units. */
export const MAX_FACT_LENGTH = 400;

/** Words that take back what was said before. They say nothing about the subject. */
const RETRACTS =
  /\b(?:corrections?|corrected|correcting|wrong(?:ly)?|incorrect|mistaken(?:ly)?|mistakes?|mis(?:heard|read|typed|remembered|stated)|typos?|err(?:or|ed) (?:on|in) my|scratch|scrap(?:ped)?|strike|disregard|ignore|forget (?:what|that|the|about)|never ?mind|retract(?:ed)?|take (?:that|it) back|no longer|not any ?more|any ?more|any ?longer|after all|actually|turns out|turned out|in fact|from now on|going forward|from here on|henceforth|effective (?:immediately|today|now)|instead(?: of)?|rather than|not true|isn't true|outdated|out of date|obsolete|void|supersedes?|overrid(?:es|den)|update[ds]?:?|revised?|amend(?:ed|ment)?|changed? (?:my|our|his|her|their) mind|back to|reverted?|undo)\b/gi;
/** Words that announce a change. They may also be what a fact says. */
const CHANGES =
  /\b(?:now|newe?r?|switch(?:ed|es|ing)?|mov(?:ed|es|ing)|chang(?:ed|es|ing)|replac(?:ed|es|ing)|raised?|upgraded?|downgraded?|bumped|renamed|former(?:ly)?|since|as of|these days|lately|latest|again|already|by now|left|quit|gave up|given up|stopped|sold|became|become|promoted|joined|started|extended|postponed|delayed|cancell?ed|closed|finished|done|went (?:up|down|over|back)|took over|handed|retired|dropped|gone|today|until|migrated|rescheduled|swapped|lowered|increased|reduced|cut|grew|shifted|brought forward|pushed)\b/gi;

/** Words that only say that something is so now. They say nothing about the subject. */
const TIMES =
  /\b(?:now|nowadays|currently|already|by now|as of (?:now|today|this \w+)|these days|lately|recently|again|still|so far|for now|at the moment|just)\b/gi;
/** Phrases with such a word that reverse nothing. */
const NO_NEGATION =
  /\b(?:no ?body|no[ -]one|none|nothing) (?:but|besides|except|other than)\b|\bcan(?:'t|not) (?:stand|wait)\b|\bnot (?:only|just)\b|\bno (?:problem|doubt|matter)\b|\bwhether or not\b/gi;
/** Words that reverse what a sentence says. */
const NEGATES =
  /\b(?:not|never|no|none|nobody|nothing|without|cannot|forbidden|prohibited|banned|stop(?:s|ped)?|avoids?|neither|nor|un(?:able|necessary|needed|used))\b|n't\b|n’t\b/gi;
const OWN = /\b(?:user|i|me|my|mine|we|our|us)\b/i;
/** The speaker of a turn in a transcript, by one name or two. */
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{N}._-]*(?: \p{Lu}[\p{L}\p{N}._-]*)?):\s/u;
/** What begins a captured turn, and one of the user. */
const TURN = /^(?:User|Assistant): /;
/** Whether a text is a turn of a conversation. */
export const isTurn = (text: string): boolean => TURN.test(text);
const TURN_OF_USER = /^User: /;
const ASKS = /\?\s*$/;
/** How a question begins that is typed without its mark. */
const BEGINS_ASKING =
  /^(?:and |so |also |und )?(?:(?:who|whose|what|which|why|how)\b|(?:when|where) (?:do|does|did|is|are|was|were|will|can|should)\b|(?:wer|was|wann|wo|warum|welche[mnrs]?|wie (?:ist|war|lautet|hei(?:ß|ss)t|lange|oft|viele?)) )[^,:;]*$/i;

/** How a request begins to be told something now, not each time or at some time. */
const ASKS_FOR =
  /^(?:\p{L}{1,6}[,.] )?(?:please |bitte )?(?:(?:(?:can|could|would) you )?(?:remind me (?:of|about|wh\p{L}+|how)|tell me (?:again )?(?:wh\p{L}+|how|the))|(?:kannst du mir|sag mir|nenne? mir) (?:bitte |noch ?mal )?(?:was|we(?:r|n|m|lche[mnrs]?)|wo|wie|den|die|das)|erinnere? mich (?:an|was|wer|wo|wie)) (?!.*(?:\d|day\b|tag\b|\b(?:after|when|every|each|before|nach|bei|wenn|jede[mnrs]?|vor)\b))/iu;

/** Whether a text asks something, also without its mark. */
export const isAsking = (text: string): boolean =>
  ASKS.test(text) || BEGINS_ASKING.test(text) || ASKS_FOR.test(text);

/** Somebody's advice or words, which are his own and no fact about others. */
const REPORTS =
  /\b(?:said|says|told|tells|suggest(?:s|ed)?|recommend(?:s|ed)?|advis(?:es|ed)|advice|thinks?|thought|believes?|claims?|claimed|asked|prefers?|wants?|proposed?)\b/i;

/** A word, a number, or an identifier such as `db-stage-1`, `09:40` or `GET`. */
const TOKEN = /[\p{L}\p{N}]+(?:[-_./:@'’][\p{L}\p{N}]+)*(?:[%°€$£]|\+\+|#)?/gu;
const NUMBER_WORDS = new Map(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
    .split(" ")
    .map((word, number) => [word, String(number)] as const)
    .concat([
      ["thirty", "30"],
      ["forty", "40"],
      ["fifty", "50"],
      ["sixty", "60"],
      ["hundred", "100"],
    ]),
);
/** A unit after a number, without which versions are compared. */
const UNIT =
  /(\d)\s?(?:s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|ms|kb|mb|gb|tb|kg|g|km|m|cm|mm|l|ml)\b/gi;
const DAYS =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|january|february|march|april|may|june|july|august|september|october|november|december|mornings?|afternoons?|evenings?|nights?|noon|midnight|spring|summer|autumn|winter)$/;
const HYPHENATED = /^[\p{L}-]+$/u;
/** Words that tell things apart, as in "before lunch" and "after lunch". */
const CONTRASTS = new Set(
  "before after without above below under between during off up down out inside outside against through on".split(
    " ",
  ),
);
const STOP = new Set(STOP_WORDS.filter((word) => !CONTRASTS.has(word)));
/** Names of the person that the memories belong to. */
const OWNER = new Set(
  "user users user's i me my mine we our ours us myself note remember please".split(" "),
);
/** Relatives and other people that are named by what they are to somebody: they are subjects of their own. */
const RELATIVE =
  /^(?:(?:step|grand|great)?(?:mother|father|mum|mom|dad|ma|pa|son|daughter|child|children|parents?|kids?)|sisters?|brothers?|siblings?|twin|wife|husband|spouse|partner|aunt|uncle|cousin|niece|nephew|law|boss|manager|colleagues?|neighbou?rs?|friends?|flatmate|roommate|landlord|tenant|intern|team|group|department|customers?|clients?|guests?|boy|girl|baby|toddler|dog|cat|youngest|eldest|oldest)$/;
/** What ends the subject of a note, or of a sentence. */
const SUBJECT_END =
  /(?<!\s)\s*(?:[:=→]|->|=>|\s[–—-]\s)\s*|\b(?:is|are|was|were|has|have|had|uses?|runs?|costs?|lives?|works?|likes?|prefers?|wants?|needs?|takes?|gets?|goes|drives?|plays?|keeps?|must|may|can|should|shall|will|does|do|starts?|ends?|opens?|closes?|moved|listens?|holds?|seats?|meets?|speaks?|eats?|drinks?|sits|stands|belongs?|supports?|allows?|requires?|accepts?|returns?)\b/i;

const NOTE_END = /^\s*(?:[:=→]|->|=>|[–—-]\s)/;

/** The fields of a memory by which versions of a fact are recognized. */
export type FactMemory = Pick<MemoryRow, "content" | "createdAt" | "sessionId">;
/** What is read from a memory's text alone. */
export type HasContent = Pick<FactMemory, "content">;

/** `value`: a number, a day, or an identifier. `name`: a capitalised word within a sentence. */
export type TokenKind = "number" | "day" | "code" | "name" | "word";

/** A content word of a text. */
export interface FactToken {
  /** By which it is compared: a stem, or the whole in lower case unless it is a word. */
  key: string;
  kind: TokenKind;
  /** In lower case. */
  word: string;
  /** The word before it and the one after it, in lower case; "" at the start and at the end of a sentence. */
  before: string;
  after: string;
}

/** What the text of a memory tells about its fact. */
export interface FactText {
  /** In the order of the text, without words that take back or only say that it is so now. */
  tokens: readonly FactToken[];
  /** The words of its subject, as far as its end can be seen: a colon, or a common verb. */
  subject: ReadonlySet<string>;
  /** Whether a colon or the like ends the subject, as in a note. */
  isNote: boolean;
  /** Relatives and the like that it is about. */
  relatives: ReadonlySet<string>;
  /** Whether it is about the person whose memories these are: "I", "my", "the user". */
  isOwn: boolean;
  keys: ReadonlySet<string>;
  speaker: string | undefined;
  asks: boolean;
  reports: boolean;
  /** Whether it has a word that takes back what was said, or one that announces a change. */
  retracts: boolean;
  changed: boolean;
  negates: boolean;
}

/** A memory's fact with its amounts as numbers alone, which the trees of versions were fitted with. */
export const factOf = createReader((text) =>
  readFact(withEnglishNouns(text), (said) => withPlainHours(said).replace(UNIT, "$1")),
);
/** A memory's fact with each number, time, date and amount in one form. */
export const exactFactOf = createReader((text) => readFact(text, withPlainAmounts));
/** A memory's text, of a German one the words that tell no subject in English. */
export const plainEnglishOf = createReader((text) => withPlainQuotes(withEnglishWords(text)));
/** Single properties of a fact, which are read much sooner than all. */
export const retracts = createReader((_, memory) => plainEnglishOf(memory).search(RETRACTS) >= 0);
export const negates = createReader((_, memory) => isNegating(plainEnglishOf(memory)));

/** Returns a function that reads a property of a memory's text, once for each. */
export function createReader<Property>(read: (text: string, memory: HasContent) => Property) {
  /** What was read so far, as long as the rows stay in memory: reading is slow. */
  const known = new WeakMap<HasContent, Property>();
  return (memory: HasContent): Property => {
    const before = known.get(memory);
    if (before !== undefined) return before;
    const property = read(memory.content.slice(0, MAX_FACT_LENGTH), memory);
    known.set(memory, property);
    return property;
  };
}

/** A text with ' as its only apostrophe, as the words of facts have it. */
export function withPlainQuotes(text: string): string {
  return text.replaceAll("’", "'");
}

function isNegating(said: string): boolean {
  return said.replace(NO_NEGATION, " ").search(NEGATES) >= 0;
}

/** Whether a memory can be a version of a fact: a long one says too much. */
export function mayBeVersion({ content }: HasContent): boolean {
  return content.length <= MAX_FACT_LENGTH;
}

const SENTENCE_END = /(?<=[.!?])\s+|\n+/;

/**
 * What a captured turn states about a question: of what the user said the sentence with most of the question's words, for
 * people say several things at once. Null for a turn that only asks, for one that has no word but those of the question,
 * and for one of the assistant, who tells what it was told before.
 */
export function statementIn(memory: HasContent, asked: readonly FactToken[]): string | null {
  const content = memory.content.slice(0, MAX_FACT_LENGTH);
  if (!TURN_OF_USER.test(content)) return null;
  const keys = new Set(asked.map(({ key }) => key));
  let [best, most, isMore] = ["", -1, false];
  for (const sentence of content.replace(TURN_OF_USER, "").split(SENTENCE_END)) {
    const said = factTokens(withEnglishNouns(sentence));
    const shared = said.filter(({ key }) => keys.has(key)).length;
    if (shared > most) [best, most, isMore] = [sentence, shared, said.length > shared];
  }
  return isMore && !isAsking(best) ? best : null;
}

/** A memory with its statement; see `statementIn`. Other memories than captured turns are their own statement. */
export function withStatement<Memory extends FactMemory>(
  memory: Memory,
  asked: readonly FactToken[],
): Memory | null {
  if (!TURN.test(memory.content)) return memory;
  const content = statementIn(memory, asked);
  return content === null ? null : { ...memory, content };
}

function readFact(text: string, writePlain: (text: string) => string): FactText {
  const speaker = SPEAKER.exec(text)?.[1];
  const said = withPlainQuotes(text);
  const unretracted = said.replace(RETRACTS, " ");
  const subject = writePlain(unretracted.replace(TIMES, " "));
  const tokens = factTokens(subject);
  const unspoken = speaker === undefined ? subject : subject.replace(SPEAKER, "");
  const [start = ""] = unspoken.split(SUBJECT_END, 1);
  const relatives = tokens.filter(({ word }) => RELATIVE.test(word)).map(({ key }) => key);
  return {
    tokens,
    subject: new Set(factTokens(start).map(({ key }) => key)),
    isNote: NOTE_END.test(unspoken.slice(start.length)),
    relatives: new Set(relatives),
    isOwn: OWN.test(said),
    keys: new Set(tokens.map(({ key }) => key)),
    speaker,
    asks: ASKS.test(text),
    reports: REPORTS.test(said),
    retracts: unretracted !== said,
    changed: said.search(CHANGES) >= 0,
    negates: isNegating(said),
  };
}

/** The content words of a text. */
export function factTokens(text: string): FactToken[] {
  const tokens: FactToken[] = [];
  const words = [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    ...{ word, index },
    isFirst: isSentenceStart(text, index),
  }));
  for (const [place, { word: whole, isFirst }] of words.entries()) {
    const next = words[place + 1];
    const before = isFirst ? "" : (words[place - 1]?.word.toLowerCase() ?? "");
    const after = next && !next.isFirst ? next.word.toLowerCase() : "";
    for (const [at, raw] of (HYPHENATED.test(whole) ? whole.split("-") : [whole]).entries()) {
      const token = tokenOf(raw, isFirst && at === 0);
      if (token) tokens.push({ ...token, before, after });
    }
  }
  return tokens;
}

/** @returns null for a word that says nothing */
function tokenOf(raw: string, isFirst: boolean): Pick<FactToken, "key" | "kind" | "word"> | null {
  const word = raw.toLowerCase().replace(/['’]s$/, "");
  if (word.endsWith("n't")) return null;
  // A single capital letter is a name, as in "draft A".
  const isLetter =
    raw.length === 1 && /\p{Lu}/u.test(raw) && raw !== "I" && !(isFirst && raw === "A");
  if (isLetter) return { word, key: word, kind: "code" };
  if (STOP.has(word) || OWNER.has(word)) return null;
  const number = NUMBER_WORDS.get(word);
  if (number !== undefined) return { word, key: number, kind: "number" };
  if (DAYS.test(word)) return { word, key: word.replace(/s$/, ""), kind: "day" };
  if (/\p{N}/u.test(raw)) {
    const kind = /^\p{L}/u.test(raw) ? "code" : "number";
    return { word, key: word.replace(/^0+(?=\d)/, ""), kind };
  }
  if (/[_/.:@]|\p{Ll}\p{Lu}|^\p{Lu}{2,}$/u.test(raw)) return { word, key: word, kind: "code" };
  const kind = /^\p{Lu}/u.test(raw) && !isFirst ? "name" : "word";
  return { word, key: stemOf(word), kind };
}

/** Whether a word begins a sentence, where every word has a capital. */
function isSentenceStart(text: string, index: number): boolean {
  return /(?:^|[.!?:;\n]\s*["'`(]*)\s*$/.test(text.slice(Math.max(0, index - 4), index));
}
