import type { MemoryRow } from "../rows.ts";
import { contentWords, stemOf } from "./content-words.ts";

/** Length from which on a memory says too much to be a single fact, in UTF-16 units. */
const LONG = 400;

/** Words that announce a change. */
export const CHANGE =
  /\b(now|no longer|not any ?more|any ?more|newe?r?|instead|switched?|mov(?:ed?|ing)|chang(?:ed?|es)|replac(?:ed?|es)|raised?|upgraded|renamed|former|formerly|since|as of|from now on|these days|lately|latest|again|already|by now|left|quit|gave up|given up|stopped|sold|became|become|promoted|joined|started|extended|postponed|delayed|cancell?ed|closed|finished|done|went (?:up|down|over)|rather|took over|handed|retired|dropped|gone|from today|until)\b/i;
/** The speaker of a turn in a transcript, by one name or two. */
const SPEAKER = /^\s*(\p{Lu}[\p{L}\p{N}._-]*(?: \p{Lu}[\p{L}\p{N}._-]*)?):\s/u;
const ASKS = /\?\s*$/;

/** The fields of a memory by which versions of a fact are recognized. */
export type FactMemory = Pick<MemoryRow, "content" | "createdAt" | "sessionId">;

/** What the text of a memory tells about its fact. */
interface FactText {
  stems: ReadonlySet<string>;
  speaker: string | undefined;
  asks: boolean;
  /** Whether it has a word that announces a change. */
  changed: boolean;
}

/** The texts read so far, as long as their rows stay in memory: reading is slow. */
const known = new WeakMap<FactMemory, FactText>();

export function readFact(memory: FactMemory): FactText {
  const before = known.get(memory);
  if (before) return before;
  const { content } = memory;
  const fact = {
    stems: stemsOf(content.slice(0, LONG)),
    speaker: SPEAKER.exec(content)?.[1],
    asks: ASKS.test(content),
    changed: CHANGE.test(content.slice(0, LONG)),
  };
  known.set(memory, fact);
  return fact;
}

/** Whether a memory can be a version of a fact: a long one says too much. */
export function mayBeVersion({ content }: FactMemory): boolean {
  return content.length <= LONG;
}

export function stemsOf(text: string): Set<string> {
  return new Set(contentWords(text).map(stemOf));
}
