import { createFinder, termsOf } from "./term-finder.ts";

/** A piece of a text: words of a question, or what is between. */
export interface Piece {
  readonly text: string;
  readonly isAsked: boolean;
}

/** Signs that parts of one word may have between them, such as a dot or a hyphen. */
const JOINT = /^\S?$/;
/** What a single character of Chinese counts for beside two together: it is everywhere. */
const LITTLE = 0.2;

/** Reads a question once. What is returned cuts a text where words of the question begin and end. */
export function createHighlighter(question: string): (text: string) => Piece[] {
  const find = createFinder(termsOf(question).filter(({ rareness }) => rareness > LITTLE));
  return (text) => {
    const { starts, ends } = find(text);
    const pieces: Piece[] = [];
    let done = 0;
    const cut = (end: number, isAsked: boolean) => {
      if (end > done) pieces.push({ text: text.slice(done, end), isAsked });
      done = end;
    };
    for (let hit = 0; hit < starts.length; ) {
      const start = starts[hit] ?? 0;
      let end = ends[hit] ?? 0;
      for (hit++; hit < starts.length; hit++) {
        const next = starts[hit] ?? 0;
        if (next > end && !JOINT.test(text.slice(end, next))) break;
        end = Math.max(end, ends[hit] ?? 0);
      }
      cut(start, false);
      cut(end, true);
    }
    cut(text.length, false);
    return pieces;
  };
}
