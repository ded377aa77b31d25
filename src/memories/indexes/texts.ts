import { growInts } from "./grow.ts";
import { givePieces, PIECE, takePiece, whole } from "./pieces.ts";

/** Texts by small whole numbers, one byte a letter where that is enough. */
export interface Texts {
  /** Bytes of memory that they take, about. */
  readonly bytes: number;
  /**
   * Adds a text whose number has none.
   * @throws RangeError when there is no memory for it; then the texts can only be closed
   */
  put(number: number, text: string): void;
  remove(number: number): void;
  /** Empty where there is none. */
  get(number: number): string;
  /** Gives its memory to others. */
  close(): void;
}

/** Texts take so many bytes, or a multiple of it: room that one has left is for others of its size. */
const STEP = 8;
/** Bytes from which on a text is left to the engine, and what it takes there besides its letters. */
const LARGE = 1_024;
const STRING = 120;
const WIDE = /[^\0-\xff]/;

export function createTexts(): Texts {
  /** Where each text is, in steps; 0 for none. Twice its bytes, and 1 where a letter takes two. */
  let places = new Int32Array(0);
  let sizes = new Int32Array(0);
  /** Places that are free, by how many steps they have. */
  const free: number[][] = [];
  const pieces: number[] = [];
  const large = new Map<number, string>();
  const left = { from: 0, to: 0, large: 0 };

  const giveBack = (place: number, steps: number) => {
    const places = free[steps] ?? [];
    free[steps] = places;
    places.push(place);
  };

  const takePlace = (steps: number): number => {
    const known = free[steps]?.pop();
    if (known !== undefined) return known;
    const size = steps * STEP;
    if (left.to - left.from < size) {
      const rest = (left.to - left.from) / STEP;
      if (rest > 0) giveBack(left.from / STEP, rest);
      const piece = takePiece();
      pieces.push(piece);
      Object.assign(left, { from: piece, to: piece + PIECE });
    }
    const place = left.from / STEP;
    left.from += size;
    return place;
  };

  return {
    get bytes() {
      return pieces.length * PIECE + left.large + 4 * (places.length + sizes.length);
    },

    put(number, text) {
      places = growInts(places, number + 1);
      sizes = growInts(sizes, number + 1);
      const size = bytesOf(text);
      const isWide = size > text.length;
      if (size > LARGE) {
        large.set(number, text);
        left.large += size + STRING;
        return;
      }
      const place = takePlace(Math.ceil(size / STEP));
      whole.bytes.write(text, place * STEP, isWide ? "utf16le" : "latin1");
      places[number] = place;
      sizes[number] = 2 * size + (isWide ? 1 : 0);
    },

    remove(number) {
      const place = places[number] ?? 0;
      const text = large.get(number);
      if (text !== undefined) {
        large.delete(number);
        left.large -= bytesOf(text) + STRING;
      } else if (place > 0) {
        giveBack(place, Math.ceil(((sizes[number] ?? 0) >> 1) / STEP));
        places[number] = 0;
      }
    },

    get(number) {
      const place = places[number] ?? 0;
      if (place === 0) return large.get(number) ?? "";
      const size = sizes[number] ?? 0;
      const [from, to] = [place * STEP, place * STEP + (size >> 1)];
      return whole.bytes.toString(size & 1 ? "utf16le" : "latin1", from, to);
    },

    close() {
      givePieces(pieces.splice(0));
      places = new Int32Array(0);
      free.length = 0;
      large.clear();
      Object.assign(left, { from: 0, to: 0, large: 0 });
    },
  };
}

function bytesOf(text: string): number {
  return WIDE.test(text) ? 2 * text.length : text.length;
}
