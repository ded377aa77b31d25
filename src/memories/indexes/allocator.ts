import { BLOCK, releaseBlocks, takeBlock } from "./wasm-memory.ts";

/** Allocates ranges of the WASM memory. Each is a whole number of steps long. Released ranges are used again. */
interface Allocator {
  /** Bytes of all its blocks. */
  readonly bytes: number;
  /**
   * Allocates a range.
   * @returns its address, in steps
   * @throws RangeError when there is no memory left
   */
  take(steps: number): number;
  release(address: number, steps: number): void;
  /** Releases all memory. */
  close(): void;
}

/** @param step bytes of a step; a block must be a multiple of them */
export function createAllocator(step: number): Allocator {
  /** Addresses of free ranges, by their length in steps. */
  const free: number[][] = [];
  const blocks: number[] = [];
  /** The part of the newest block that was never allocated. */
  const unused = { from: 0, to: 0 };

  const release = (address: number, steps: number) => {
    const addresses = free[steps] ?? [];
    free[steps] = addresses;
    addresses.push(address);
  };

  return {
    get bytes() {
      return blocks.length * BLOCK;
    },

    take(steps) {
      const known = free[steps]?.pop();
      if (known !== undefined) return known;
      if (unused.to - unused.from < steps) {
        if (unused.to > unused.from) release(unused.from, unused.to - unused.from);
        const block = takeBlock();
        blocks.push(block);
        Object.assign(unused, { from: block / step, to: (block + BLOCK) / step });
      }
      unused.from += steps;
      return unused.from - steps;
    },

    release,

    close() {
      releaseBlocks(blocks.splice(0));
      free.length = 0;
      Object.assign(unused, { from: 0, to: 0 });
    },
  };
}
