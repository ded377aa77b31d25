/** Matches the end of a sentence with closing quotes and brackets, and the end of a line. */
const SENTENCE_END = /[.!?…؟۔।]["'”’)\]]*(?=\s)|[。！？][”’」』）]*|\n/gu;
const SPACE = /\s/;
/** Most UTF-16 units of what a reader sees as one character, such as an emoji of a family. */
const CLUSTER = 32;

const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The places where sentences and lines end in a part of a text, in order. */
export function sentenceEnds(text: string, from: number, to: number): number[] {
  const ends = text.slice(from, to).matchAll(SENTENCE_END);
  return Array.from(ends, ({ index, 0: end }) => from + index + end.length);
}

/** The first place from `at` to `most` that does not split a word, or else does not split a character. */
export function edgeAfter(text: string, at: number, most: number): number {
  for (let place = at; place <= most; place++) if (isEdge(text, place)) return place;
  const { start, end } = clusterAt(text, at);
  return start === at ? at : Math.min(end, most);
}

/** The last place from `at` back to `least` that does not split a word, or else does not split a character. */
export function edgeBefore(text: string, at: number, least: number): number {
  for (let place = at; place >= least; place--) if (isEdge(text, place)) return place;
  return Math.max(clusterAt(text, at).start, least);
}

/** The first place from `at` on without white space. */
export function wordAfter(text: string, at: number): number {
  while (at < text.length && SPACE.test(text[at] ?? "")) at++;
  return at;
}

/** A part of a text without the white space around it. */
export function trimmed(text: string, start: number, end: number) {
  while (end > start && SPACE.test(text[end - 1] ?? "")) end--;
  return { start: Math.min(end, wordAfter(text, start)), end };
}

function isEdge(text: string, place: number): boolean {
  return (
    place <= 0 ||
    place >= text.length ||
    SPACE.test(text[place] ?? "") ||
    SPACE.test(text[place - 1] ?? "")
  );
}

/** The character at a place, as a reader sees it. */
function clusterAt(text: string, place: number): { start: number; end: number } {
  let from = Math.max(0, place - CLUSTER);
  if (isSecondHalf(text, from)) from--;
  const cluster = clusters.segment(text.slice(from, place + CLUSTER)).containing(place - from);
  if (!cluster) return { start: place, end: place };
  const start = from + cluster.index;
  return { start, end: start + cluster.segment.length };
}

/** Whether a place is inside a surrogate pair. */
function isSecondHalf(text: string, place: number): boolean {
  return (text.codePointAt(place - 1) ?? 0) > 0xffff;
}
