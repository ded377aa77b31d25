import type { MemoryRow } from "../rows.ts";
import { contentWords, countContentWords } from "./words.ts";

/** What the wording of a question and a memory tell beyond their meaning and their words. */
export interface Hints {
  /** What makes a fitting memory better; see `favour`. */
  favour: number;
  /** What is left of the score of a memory that asks instead of telling. */
  asks: number;
  /**
   * How much of its neighbours' relevance counts for the memory, 0 to 1: little for one that says
   * nothing ("thanks, bye"), and little for a long one, which says what it is about by itself.
   */
  substance: number;
}

const NAMED = 0.4;
const TIMED = 0.3;
const EXACT = 0.5;
const ASKS = 0.9;
/** Content words that a memory has when half of its neighbours' relevance counts for it. */
const HALF_SUBSTANCE = 4;
/** Characters at the start of a memory that tell how much it says: more are not worth the time. */
const OPENING = 300;
/**
 * Characters up to which a memory borrows from its neighbours in full; a longer one borrows less, in
 * proportion. Without it the long reply of an assistant is ranked above the message that it answers.
 */
const BORROWS_IN_FULL = 600;

const ASKS_WHEN =
  /\bwhen\b|\b(what|which) (date|day|month|year|time)\b|\bhow (long|old)\b|\bwann\b|\bseit wann\b|什么时候|何时|几点|哪天|哪年|什么时间/iu;
const TELLS_TIME =
  /\b(yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|gestern|heute|morgen|woche|monat|jahr|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|uhr|(19|20)\d\d|\d{1,2}[:.]\d\d)\b|[年月日号点]|昨天|今天|明天|上周|下周|星期/iu;
const QUESTION = /[?？]["'”’)\]]*\s*$/u;
/** Who says it, as transcripts have it: "Alice: …". */
const SPEAKER = /^\s*([\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}):\s/u;

/** Roles that transcripts and tools name, which say nothing about who is meant. */
const ROLES = new Set(["agent", "ai", "assistant", "bot", "human", "model", "system", "user"]);
const TOKEN = /[\p{L}\p{N}_][\p{L}\p{N}._:/#@-]*[\p{L}\p{N}]/gu;
/** What only numbers, paths, addresses and names in code have: the index cuts them into pieces. */
const IS_IDENTIFIER = /\p{N}|\p{Ll}\p{Lu}|[_:/#@.]/u;

/** What was counted before, as long as a row is kept in memory: counting is slow. */
const counted = new WeakMap<MemoryRow, number>();

/** How many words the opening of a memory has that say something. */
function wordsOfOpening(memory: MemoryRow): number {
  const known = counted.get(memory);
  if (known !== undefined) return known;
  const words = countContentWords(memory.content.slice(0, OPENING));
  counted.set(memory, words);
  return words;
}

/** Whether a text ends as a question. */
export function isQuestion(text: string): boolean {
  return QUESTION.test(text);
}

/** Reads a question once, and returns what tells how well a memory's wording fits it. */
export function readQuestion(question: string): (memory: MemoryRow) => Hints {
  const asked = new Set(contentWords(question));
  const asksWhen = ASKS_WHEN.test(question);
  const identifiers = (question.match(TOKEN) ?? [])
    .filter((token) => IS_IDENTIFIER.test(token))
    .map((token) => token.toLowerCase());
  const isNamed = (name: string) =>
    contentWords(name).some((word) => asked.has(word) && !ROLES.has(word));
  const hasExactly = (content: string) => {
    const lower = identifiers.length > 0 ? content.toLowerCase() : "";
    return identifiers.some((identifier) => lower.includes(identifier));
  };
  return (memory) => {
    const { content, agentId, tags } = memory;
    const names = [SPEAKER.exec(content)?.[1] ?? "", agentId ?? "", ...tags];
    const words = wordsOfOpening(memory);
    return {
      favour:
        (names.some(isNamed) ? NAMED : 0) +
        (hasExactly(content) ? EXACT : 0) +
        (asksWhen && TELLS_TIME.test(content) ? TIMED : 0),
      asks: isQuestion(content) ? ASKS : 1,
      substance: (words / (words + HALF_SUBSTANCE)) * Math.min(1, BORROWS_IN_FULL / content.length),
    };
  };
}
