import { createPause } from "../timing/pause.ts";
import type { Expression, FoundSecret, Pattern } from "./own-patterns.ts";
import { COMMON_PASSWORDS, PATTERNS, PLACEHOLDERS } from "./patterns.ts";

/** Shannon's entropy of a text, in bits for each character: 0 for one letter repeated. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) {
    entropy -= (count / text.length) * Math.log2(count / text.length);
  }
  return entropy;
}

const BEGIN = /-----BEGIN[ A-Z0-9_-]{0,64}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END[ A-Z0-9_-]{0,64}PRIVATE KEY(?: BLOCK)?-----/g;

/** The lines of a key without an end, as in a truncated text. Line breaks may be escaped. */
const LINES = /(?:[A-Za-z0-9+/=:,.-]|\s|\\[nr])*/y;

/** Characters of the shortest key. Shorter texts are placeholders, such as three dots. */
const MIN_KEY_LENGTH = 40;

/**
 * Finds private keys in PEM (RFC 7468) or OpenPGP armor. It reads each part of the text a fixed number of
 * times, no matter how many keys begin in it.
 */
function findPrivateKeys(text: string): FoundSecret[] {
  if (!text.includes("-----BEGIN")) return [];
  const found: FoundSecret[] = [];
  const begins = [...text.matchAll(BEGIN)];
  const ends = [...text.matchAll(END)].map((match) => match.index + match[0].length);
  let next = 0;
  let read = 0;
  for (const [place, begin] of begins.entries()) {
    if (begin.index < read) continue;
    const body = begin.index + begin[0].length;
    while (next < ends.length && (ends[next] ?? 0) <= body) next++;
    const following = begins[place + 1]?.index ?? text.length;
    const end = ends[next];
    const isWhole = end !== undefined && end <= following + 1;
    read = isWhole ? end : endOfLines(text, body);
    if (read - body >= MIN_KEY_LENGTH && /[A-Za-z0-9+/]{20}/.test(text.slice(body, read))) {
      found.push({ kind: "private-key", start: begin.index, end: read });
    }
  }
  return found;
}

function endOfLines(text: string, from: number): number {
  LINES.lastIndex = from;
  const lines = LINES.exec(text)?.[0] ?? "";
  return from + lines.trimEnd().length;
}

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). A port with a path is no password. */
const CREDENTIALS =
  /:\/\/([^\s:@/?#'"<>`]{0,128}):(?!\d{1,5}(?:\/|$))([^\s@'"<>`]{3,256})@(?=[\w.[-])/g;

/** Finds passwords in URLs, such as that of a database. Common default passwords are not secrets. */
function findUrlPasswords(text: string): FoundSecret[] {
  if (!text.includes("://")) return [];
  return [...text.matchAll(CREDENTIALS)].flatMap((match) => {
    const [whole, user, password = ""] = match;
    if (password === user || COMMON_PASSWORDS.test(password)) return [];
    const end = match.index + whole.length - "@".length;
    return [{ kind: "url-password", start: end - password.length, end }];
  });
}

/** Above this entropy, a text contains a stopword by chance. */
const MAX_STOPWORD_ENTROPY = 4.5;

const NAME_BEFORE = /(?<![\w.-])[\w.-]+$/;
const MAX_NAME_LENGTH = 50;
/** Characters of a text by which it is known to be no secret: placeholders and names are short. */
const MAX_HARMLESS = 300;

const compiled = new Map<Expression, RegExp>();

/**
 * Finds the secrets of a text: keys, tokens, private keys and passwords. They are in the order of the text
 * and do not overlap. The time is proportional to the length of the text.
 */
export function findSecrets(text: string): FoundSecret[] {
  const search = searchSteps(text);
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
  }
}

/** The same for a text so long that other requests should run in between. */
async function findSecretsInLong(text: string): Promise<FoundSecret[]> {
  const pause = createPause();
  const search = searchSteps(text);
  for (;;) {
    const step = search.next();
    if (step.done) return step.value;
    await pause();
  }
}

/** Characters of a text that are compared with keywords in one step. */
const STEP = 50_000;

/** Keywords with the places of their patterns, by their first two characters. Those of one character are by none. */
const KEYWORDS = new Map<number, { keyword: string; places: number[] }[]>();
for (const [place, { keywords }] of PATTERNS.entries()) {
  for (const keyword of keywords) {
    const beginning = keyword.length < 2 ? Number.NaN : beginningAt(keyword, 0);
    const same = KEYWORDS.get(beginning) ?? [];
    KEYWORDS.set(beginning, same);
    const known = same.find((each) => each.keyword === keyword);
    if (known) known.places.push(place);
    else same.push({ keyword, places: [place] });
  }
}

/** The character at a place of a text and the one after it, as a number. */
function beginningAt(text: string, at: number): number {
  return text.charCodeAt(at) * 0x1_00_00 + text.charCodeAt(at + 1);
}

/** The patterns of which a text has a keyword. Looking for each keyword alone would take four times as long. */
function* likelyPatterns(lower: string): Generator<void, Pattern[]> {
  const found = new Set<number>();
  const short = KEYWORDS.get(Number.NaN) ?? [];
  for (const { keyword, places } of short) {
    if (lower.includes(keyword)) for (const place of places) found.add(place);
  }
  for (let at = 0; at < lower.length; at++) {
    for (const { keyword, places } of KEYWORDS.get(beginningAt(lower, at)) ?? []) {
      if (lower.startsWith(keyword, at)) for (const place of places) found.add(place);
    }
    if (at % STEP === STEP - 1) yield;
  }
  return [...found].sort((a, b) => a - b).flatMap((place) => PATTERNS[place] ?? []);
}

/** Finds secrets step by step: one pattern at a time. */
function* searchSteps(text: string): Generator<void, FoundSecret[]> {
  const { visible, placeOf } = withoutInvisible(text);
  const candidates = [...findPrivateKeys(visible), ...findUrlPasswords(visible)];
  yield;
  for (const pattern of yield* likelyPatterns(visible.toLowerCase())) {
    candidates.push(...findByPattern(visible, pattern));
    yield;
  }
  return withoutOverlaps(candidates).map(({ kind, start, end }) => ({
    kind,
    start: placeOf(start),
    end: placeOf(end - 1) + 1,
  }));
}

const INVISIBLE = /\p{Cf}/u;

/**
 * The text without invisible characters, which would hide a secret from the patterns and not from people.
 * `placeOf` returns where a character was.
 */
function withoutInvisible(text: string) {
  if (!INVISIBLE.test(text)) return { visible: text, placeOf: (at: number) => at };
  const places: number[] = [];
  let visible = "";
  let at = 0;
  for (const character of text) {
    if (!INVISIBLE.test(character)) {
      visible += character;
      for (let unit = 0; unit < character.length; unit++) places.push(at + unit);
    }
    at += character.length;
  }
  return { visible, placeOf: (place: number) => places[place] ?? text.length };
}

function findByPattern(text: string, pattern: Pattern): FoundSecret[] {
  const found: FoundSecret[] = [];
  const expression = compile(pattern, "g");
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    const secret = longest(match.slice(1)) ?? match[0];
    const start = match.index + match[0].lastIndexOf(secret);
    const named = `${nameBefore(text, match.index)}${match[0]}`;
    if (isSecret(secret, named, pattern)) {
      found.push({ kind: pattern.kind, start, end: start + secret.length });
    } else {
      // The rest of this match may contain another secret.
      expression.lastIndex = Math.max(start, match.index + 1);
    }
  }
  return found;
}

/** The part of a name before a match, such as `foreign_` when the pattern matched `key` only. */
function nameBefore(text: string, end: number): string {
  return NAME_BEFORE.exec(text.slice(Math.max(0, end - MAX_NAME_LENGTH), end))?.[0] ?? "";
}

function longest(groups: readonly (string | undefined)[]): string | undefined {
  return groups.toSorted((a = "", b = "") => b.length - a.length).find((group) => group);
}

function isSecret(secret: string, match: string, pattern: Pattern): boolean {
  const { entropy: minimum = 0, harmless = [], harmlessMatch = [], stopwords = [] } = pattern;
  const entropy = entropyOf(secret);
  if (entropy <= minimum) return false;
  const isKnown = (list: readonly Expression[], text: string) =>
    list.some((known) => compile(known).test(text.slice(0, MAX_HARMLESS)));
  if (isKnown(PLACEHOLDERS, secret) || isKnown(harmless, secret)) return false;
  if (isKnown(harmlessMatch, match)) return false;
  if (entropy > MAX_STOPWORD_ENTROPY || stopwords.length === 0) return true;
  const lower = secret.toLowerCase();
  return !stopwords.some((word) => lower.includes(word));
}

function compile(expression: Expression, more = ""): RegExp {
  const known = compiled.get(expression);
  if (known) return known;
  const created = new RegExp(expression.source, expression.flags + more);
  compiled.set(expression, created);
  return created;
}

/** Merges overlapping secrets. The merged secret has the kind of the one that was found first. */
function withoutOverlaps(found: readonly FoundSecret[]): FoundSecret[] {
  const rank = new Map(found.map((secret, place) => [secret, place]));
  const merged: FoundSecret[] = [];
  for (const secret of found.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (!last || secret.start >= last.end) {
      merged.push(secret);
      continue;
    }
    const first = (rank.get(last) ?? 0) <= (rank.get(secret) ?? 0) ? last : secret;
    const whole = { ...first, start: last.start, end: Math.max(last.end, secret.end) };
    rank.set(whole, rank.get(first) ?? 0);
    merged[merged.length - 1] = whole;
  }
  return merged;
}

/**
 * Replaces each secret in a text by `[masked: KIND]`. The surrounding text stays, so that it still says
 * which key or password it is about. Masking a masked text does not change it.
 * @param report receives the kind of each secret, if there are any
 * @param mark returns the replacement of a secret
 */
export function maskSecrets(text: string, report?: Report, mark?: Mark): string {
  return replaceSecrets(text, findSecrets(text), report, mark);
}

/** The same for a text so long that other requests should run in between. */
export async function maskSecretsInLong(text: string, report?: Report): Promise<string> {
  return replaceSecrets(text, await findSecretsInLong(text), report);
}

type Report = (kinds: string[]) => void;
type Mark = (kind: string) => string;

function replaceSecrets(
  text: string,
  found: readonly FoundSecret[],
  report: Report = () => {},
  mark: Mark = (kind) => `[masked: ${kind}]`,
): string {
  if (found.length === 0) return text;
  report(found.map(({ kind }) => kind));
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of found) {
    masked += `${text.slice(at, start)}${mark(kind)}`;
    at = end;
  }
  return masked + text.slice(at);
}
