import { BLOCK, releaseBlocks, takeBlock } from "./wasm-memory.ts";

/** Room of many sizes in blocks, all of them a number of steps. What is given back is taken again. */
interface Allocator {
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

/** @param step its bytes, a part of a block's */
export function createAllocator(step: number): Allocator {
  /** Allocator that are free, by how many steps they have. */
  const free: number[][] = [];
  const blocks: number[] = [];
  const left = { from: 0, to: 0 };

  const give = (place: number, steps: number) => {
    const places = free[steps] ?? [];
    free[steps] = places;
    places.push(place);
  };

  return {
    get bytes() {
      return blocks.length * BLOCK;
    },

    take(steps) {
      const known = free[steps]?.pop();
      if (known !== undefined) return known;
      if (left.to - left.from < steps) {
        if (left.to > left.from) give(left.from, left.to - left.from);
        const block = takeBlock();
        blocks.push(block);
        Object.assign(left, { from: block / step, to: (block + BLOCK) / step });
      }
      left.from += steps;
      return left.from - steps;
    },

    give,

    close() {
      releaseBlocks(blocks.splice(0));
      free.length = 0;
      Object.assign(left, { from: 0, to: 0 });
    },
  };
}
