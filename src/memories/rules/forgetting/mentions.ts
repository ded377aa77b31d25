import { HAS_UNSPACED, tokensOf } from "../../indexes/tokens.ts";

/**
 * How a text mentions a subject: by its whole name or all its words (`named`), or in a way that may mean something else
 * (`perhaps`): a part of the name, as a part of another name such as `Anna-Lena`, or in small letters a name that is a
 * word, such as `rose`.
 */
export type Mention = "named" | "perhaps";

/** A place where a text has a word of a name. */
interface Place {
  start: number;
  end: number;
  /** Whether the word is in small letters. */
  isSmall: boolean;
  /** Whether a hyphen makes it a part of another name. */
  isJoined: boolean;
}

/** A subject, as it is looked for in texts. */
export interface Subject {
  /**
   * How a text mentions the subject; null if it does not.
   * @param smallCounts whether names in small letters count, where `isName`
   */
  find(text: string, smallCounts?: boolean): Mention | null;
  /** Whether the subject was written as a name: with a capital at the beginning of each word. */
  readonly isName: boolean;
  /** How many times a text has the name with and without a capital. */
  countCases(text: string): { capital: number; small: number };
}

const RUN = /[\p{L}\p{M}\p{N}]+/gu;
const IS_LETTER = /[\p{L}\p{N}]/u;
const IS_CAPITAL = /^\p{Lu}/u;
/** Two words that a hyphen or an apostrophe joins. */
const IS_JOINED = /[\p{L}\p{N}][-\u2010\u2011'\u2019][\p{L}\p{N}]/u;
const HYPHENS = new Set(["-", "\u2010", "\u2011"]);
const APOSTROPHES = new Set(["'", "\u2019"]);
/** Most characters between two words of a name: the initial or the name between them. */
const MAX_BETWEEN = 24;
const BETWEEN = /^[\s.,_-]{0,3}(?:[\p{L}\p{M}]{1,16}[\s._-]{1,3})?$/u;
/** Words of a name, and places of a word that are read in a text. */
const MAX_WORDS = 8;
const MAX_PLACES = 500;
/** Letters by which a text is passed over before its words are read. */
const PREFIX = 3;

/** A text without accents, in its own case. Words keep their borders. */
function plain(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize("NFKD").replaceAll(/\p{M}/gu, "") : text;
}

/** Reads a subject, such as `Anna`, `Anna Schmidt` or `the old staging server`. */
export function readSubject(subject: string): Subject {
  const folded = plain(subject.trim());
  const inWords = readWords(folded);
  return IS_JOINED.test(folded) ? asWritten(folded, inWords) : inWords;
}

function readWords(folded: string): Subject {
  const runs = folded.match(RUN) ?? [];
  if (HAS_UNSPACED.test(folded) || runs.length === 0) return byCharacters(folded.toLowerCase());
  const isName = runs.length <= MAX_WORDS && runs.every((run) => IS_CAPITAL.test(run));
  return isName ? byName(runs.map((run) => run.toLowerCase())) : byWords(folded);
}

/**
 * Finds a subject as it was written, if a hyphen or an apostrophe joins its words, such as `Anna-Lena`, `O'Brien` or
 * `eu-west-3`. No word is written so, so it counts in small letters, too.
 */
function asWritten(folded: string, inWords: Subject): Subject {
  const plainSigns = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[\u2010\u2011]/g, "-")
      .replaceAll("\u2019", "'");
  const wanted = plainSigns(folded);
  /** Whether a place at a border belongs to no longer name. */
  const isFree = (text: string, at: number, step: 1 | -1) =>
    !isLetter(text[at]) && !(text[at] === "-" && isLetter(text[at + step]));
  return {
    ...inWords,
    find(content, smallCounts) {
      const text = plainSigns(plain(content));
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
        if (isFree(text, at - 1, -1) && isFree(text, endOf(text, at + wanted.length), 1)) {
          return "named";
        }
      }
      return inWords.find(content, smallCounts);
    },
  };
}

/** For scripts without spaces between words, where the borders of a word are not known. */
function byCharacters(wanted: string): Subject {
  return {
    isName: false,
    find: (text) => (plain(text).toLowerCase().includes(wanted) ? "named" : null),
    countCases: () => ({ capital: 0, small: 0 }),
  };
}

/** Finds texts with all words of the subject, in any form that the word index takes for the same. */
function byWords(folded: string): Subject {
  const own = new Set(tokensOf(folded));
  // A subject of stop words alone is looked for as it is.
  if (own.size === 0) return byName(folded.toLowerCase().match(RUN) ?? []);
  const wanted = [...own];
  const prefixes = wanted.map((token) => token.slice(0, PREFIX));
  // A single word may be a name in small letters: only its own forms are sure.
  const single = wanted.length === 1 ? byName(folded.toLowerCase().match(RUN) ?? []) : null;
  return {
    isName: false,
    find(text) {
      const found = single?.find(text);
      if (found) return found;
      const lower = plain(text).toLowerCase();
      if (!prefixes.every((prefix) => lower.includes(prefix))) return null;
      const tokens = new Set(tokensOf(text));
      if (!wanted.every((token) => tokens.has(token))) return null;
      return single ? "perhaps" : "named";
    },
    countCases: () => ({ capital: 0, small: 0 }),
  };
}

function byName(words: readonly string[]): Subject {
  const [first = "", ...others] = words;

  /** Whether the other words of the name follow a place, or precede it as in `Schmidt, Anna`. */
  const isWhole = (text: string, place: Place, placesOfOthers: readonly Place[][]): boolean => {
    let at = place;
    for (const places of placesOfOthers) {
      const next = places.find(({ start }) => start >= at.end && start - at.end <= MAX_BETWEEN);
      if (!next || !BETWEEN.test(text.slice(at.end, next.start))) {
        const [last = []] = placesOfOthers.slice(-1);
        return isReversed(text, place, last);
      }
      at = next;
    }
    return true;
  };

  const isReversed = (text: string, { start }: Place, last: readonly Place[]): boolean =>
    last.some(
      ({ end }) =>
        end <= start && start - end <= MAX_BETWEEN && /^,?\s{1,2}$/.test(text.slice(end, start)),
    );

  return {
    isName: true,
    find(content, smallCounts = true) {
      const text = plain(content);
      const lower = text.toLowerCase();
      const placesOfOthers = others.map((word) => placesOf(text, lower, word));
      let found: Mention | null = placesOfOthers.some(({ length }) => length > 0)
        ? "perhaps"
        : null;
      for (const place of placesOf(text, lower, first)) {
        const isSure = !place.isJoined && (smallCounts || !place.isSmall);
        if (isSure && isWhole(text, place, placesOfOthers)) return "named";
        found = "perhaps";
      }
      return found;
    },
    countCases(content) {
      const text = plain(content);
      const places = placesOf(text, text.toLowerCase(), first);
      const small = places.filter(({ isSmall }) => isSmall).length;
      return { capital: places.length - small, small };
    },
  };
}

/** The places of a whole word in a text, also with the `s` of a genitive or a plural: `Anna's`, `Annas`, `Lucas'`. */
function placesOf(text: string, lower: string, word: string): Place[] {
  const places: Place[] = [];
  // In a few scripts the other case has another length.
  const searched = lower.length === text.length ? lower : text;
  for (let at = searched.indexOf(word); at >= 0; at = searched.indexOf(word, at + word.length)) {
    const end = endOf(searched, at + word.length);
    if (isLetter(searched[at - 1]) || isLetter(searched[end])) continue;
    if (places.length === MAX_PLACES) break;
    const isSmall = text[at] === searched[at] && !IS_CAPITAL.test(text[at] ?? "");
    places.push({ start: at, end, isSmall, isJoined: isPartOfName(text, at, end) });
  }
  return places;
}

/** Where a word ends, with its genitive or plural. */
function endOf(lower: string, end: number): number {
  const hasApostrophe = APOSTROPHES.has(lower[end] ?? "");
  const last = hasApostrophe ? end + 1 : end;
  if (lower[last] === "s" && !isLetter(lower[last + 1])) return last + 1;
  return end;
}

/** Whether a hyphen joins a word with another one that is written as it is: `Anna-Lena`, and not `Anna-related`. */
function isPartOfName(text: string, start: number, end: number): boolean {
  const isCapital = IS_CAPITAL.test(text[start] ?? "");
  const isLike = (sign: string | undefined) =>
    isLetter(sign) && IS_CAPITAL.test(sign ?? "") === isCapital;
  const isAfter = HYPHENS.has(text[end] ?? "") && isLike(text[end + 1]);
  if (isAfter || !HYPHENS.has(text[start - 1] ?? "")) return isAfter;
  const [before = ""] =
    /[\p{L}\p{N}]{0,40}$/u.exec(text.slice(Math.max(0, start - 41), start - 1)) ?? [];
  return isLike(before[0]);
}

function isLetter(sign: string | undefined): boolean {
  return sign !== undefined && IS_LETTER.test(sign);
}
