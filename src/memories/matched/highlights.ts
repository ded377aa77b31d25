import { createFinder, termsOf } from "./term-finder.ts";

/** A piece of a text: words of the question, or the text between them. */
export interface Piece {
  readonly text: string;
  readonly isAsked: boolean;
}

/** Characters that may separate the parts of one word, such as a dot or a hyphen. */
const JOINT = /^\S?$/;
/** The weight of a single Chinese character compared with a pair: single characters occur everywhere. */
const LITTLE = 0.2;

/** Reads a question once. Returns a function that splits a text where words of the question begin and end. */
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
