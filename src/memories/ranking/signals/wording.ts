import type { MemoryRow } from "../../model/rows.ts";
import { contentWords } from "../fact-text.ts";
import { flag } from "../trees.ts";
import type { Kind } from "./kind.ts";

const TELLS_TIME =
  /\b(yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|gestern|heute|morgen|woche|monat|jahr|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|uhr|(19|20)\d\d|\d{1,2}[:.]\d\d)\b|[年月日号號点點]|昨天|今天|明天|上周|下周|星期/iu;
const QUESTION = /[?？]["'”’)\]]*\s*$/u;
/** The speaker at the start of a text, in the form of transcripts: "Alice: …". */
const SPEAKER = /^\s*([\p{L}\p{N}][\p{L}\p{N} ._-]{0,39})(?::\s|：)/u;

/** Names of the answering role in transcripts and tools. */
const ANSWERS = new Set(["agent", "ai", "assistant", "bot", "model", "助手", "助理"]);
/** Names of roles. They don't name a person. */
const ROLES = new Set([...ANSWERS, "human", "system", "user"]);
/** Characters at the start of a memory in which a time is searched. */
const OPENING = 600;
/** Characters at the start of a memory in which a speaker's name is searched. */
const NAME = 60;
/** Characters at the end of a memory that decide whether it is a question. */
const ENDING = 20;

/** Whether a text ends as a question. */
export function isQuestion(text: string): boolean {
  return QUESTION.test(text.slice(-ENDING));
}

/** Properties of a memory's wording that do not depend on the question. */
interface Wording {
  /** In lower case; empty without a speaker. */
  speaker: string;
  asks: boolean;
  /** `null` until it is first needed. */
  tellsTime: boolean | null;
}

/** Caches the properties of each row while the row is in memory, since reading a text is slow. */
const read = new WeakMap<MemoryRow, Wording>();

function wordingOf(memory: MemoryRow): Wording {
  const known = read.get(memory);
  if (known) return known;
  const wording = {
    speaker: SPEAKER.exec(memory.content.slice(0, NAME))?.[1]?.toLowerCase() ?? "",
    asks: isQuestion(memory.content),
    tellsTime: null,
  };
  read.set(memory, wording);
  return wording;
}

function tellsTime(memory: MemoryRow): boolean {
  const wording = wordingOf(memory);
  wording.tellsTime ??= TELLS_TIME.test(memory.content.slice(0, OPENING));
  return wording.tellsTime;
}

/**
 * Signals of the wording, apart from meaning and words: whether the memory is itself a question, was said by an
 * assistant (whose replies contain much that nobody asks for later) or by another person than the question names,
 * contains a time if the question asks for one, and contains the question's numbers, paths and identifiers literally.
 */
export const wording: Kind = {
  part: "wording",
  names: ["asks", "assistant", "other speaker", "tells when", "exact"],
  read({ contentWords: asked, asksWhen, identifiers }, all) {
    const named = new Map<string, boolean>();
    for (const { memory } of all) {
      const { speaker } = wordingOf(memory);
      if (named.has(speaker)) continue;
      const isNamed = contentWords(speaker).some((word) => asked.has(word) && !ROLES.has(word));
      named.set(speaker, isNamed);
    }
    const isSpeakerNamed = [...named.values()].includes(true);
    const exactly = (content: string) => {
      if (identifiers.length === 0) return 0;
      const lower = content.toLowerCase();
      return identifiers.filter((one) => lower.includes(one)).length / identifiers.length;
    };
    return ({ memory }, row, from) => {
      const { speaker, asks } = wordingOf(memory);
      row[from] = flag(asks);
      row[from + 1] = flag(ANSWERS.has(speaker));
      row[from + 2] = flag(isSpeakerNamed && speaker !== "" && !named.get(speaker));
      row[from + 3] = flag(asksWhen && tellsTime(memory));
      row[from + 4] = exactly(memory.content);
    };
  },
};
