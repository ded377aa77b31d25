import { givePieces, PIECE, takePiece } from "./pieces.ts";

/** Room of many sizes in pieces, all of them a number of steps. What is given back is taken again. */
export interface Places {
  /** Bytes of memory that it takes. */
  readonly bytes: number;
  /**
   * Takes so many steps, and returns where they are: the address, in steps.
   * @throws RangeError when there is no memory left
   */
  take(steps: number): number;
  give(place: number, steps: number): void;
  /** Gives its memory to others. */
  close(): void;
}

/** @param step its bytes, a part of a piece's */
export function createPlaces(step: number): Places {
  /** Places that are free, by how many steps they have. */
  const free: number[][] = [];
  const pieces: number[] = [];
  const left = { from: 0, to: 0 };

  const give = (place: number, steps: number) => {
    const places = free[steps] ?? [];
    free[steps] = places;
    places.push(place);
  };

  return {
    get bytes() {
      return pieces.length * PIECE;
    },

    take(steps) {
      const known = free[steps]?.pop();
      if (known !== undefined) return known;
      if (left.to - left.from < steps) {
        if (left.to > left.from) give(left.from, left.to - left.from);
        const piece = takePiece();
        pieces.push(piece);
        Object.assign(left, { from: piece / step, to: (piece + PIECE) / step });
      }
      left.from += steps;
      return left.from - steps;
    },

    give,

    close() {
      givePieces(pieces.splice(0));
      free.length = 0;
      Object.assign(left, { from: 0, to: 0 });
    },
  };
}
