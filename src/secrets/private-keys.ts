import type { FoundSecret } from "./pattern.ts";

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
export function findPrivateKeys(text: string): FoundSecret[] {
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
