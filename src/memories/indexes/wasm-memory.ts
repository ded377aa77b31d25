import { readFileSync } from "node:fs";
import { AppError } from "../../errors.ts";
import dotProducts from "./dot-products.wasm" with { type: "file" };
import lateInteraction from "./late-interaction.wasm" with { type: "file" };
import sketches from "./sketches.wasm" with { type: "file" };

/** See `dot-products.wat`. Addresses and sizes are in bytes. */
interface DotProducts {
  memory: WebAssembly.Memory;
  multiply(query: number, record: number, end: number, length: number, size: number): void;
  multiplyListed(query: number, list: number, end: number, length: number): void;
}

/** See `late-interaction.wat`. */
interface LateInteraction {
  interact(asked: number, askedEnd: number, states: number, end: number): number;
}

/** See `sketches.wat`. */
interface SketchesModule {
  estimate(
    tables: number,
    signs: number,
    end: number,
    width: number,
    numbers: number,
    gap: number,
    base: number,
    scale: number,
    offset: number,
  ): void;
  select(at: number, end: number, low: number, high: number, row: number, found: number): number;
}

/** Bytes of a block. */
export const BLOCK = 1 << 16;
/** Blocks by which the memory grows at least. */
const GROWTH = 8;
/** Share of its size by which a large memory grows. */
const SPARE = 0.25;

/**
 * One memory for the vectors and texts of all indexes, which allocate and release blocks. There is only one, since the
 * JavaScript engine allows eight and collects all garbage before it makes one more. The garbage collector does
 * not read its content.
 */
const { memory, multiply, multiplyListed } = load(dotProducts) as DotProducts;
const { interact } = load(lateInteraction, memory) as LateInteraction;
const { estimate, select } = load(sketches, memory) as SketchesModule;
const free: number[] = [];

const viewsOf = (buffer: ArrayBuffer) => ({
  bytes: Buffer.from(buffer),
  integers: new Int8Array(buffer),
  int32: new Int32Array(buffer),
  floats: new Float32Array(buffer),
});

/** Views of the whole memory, replaced when it grows. Its first block is for queries: see below. */
export let views = viewsOf(memory.buffer);

/** Addresses in the first block: of a query's vector, of its tables for sketches, and of its token states. */
export const QUERY = 0;
export const TABLES = BLOCK / 4;
export const ASKED = BLOCK / 2;

export { estimate, interact, multiply, multiplyListed, select };

/**
 * Allocates a block, and returns its address.
 * @throws RangeError when there is no memory left
 */
export function takeBlock(): number {
  if (free.length === 0) {
    const end = memory.buffer.byteLength;
    const added = Math.max(GROWTH, Math.ceil((end / BLOCK) * SPARE));
    memory.grow(added);
    views = viewsOf(memory.buffer);
    for (let block = added - 1; block >= 0; block--) free.push(end + block * BLOCK);
  }
  const block = free.pop();
  if (block === undefined) throw new RangeError("there is no memory left for an index");
  return block;
}

/** A block for lists of rows or addresses, which a call writes and its caller reads at once. */
export const LISTS = takeBlock();

export function releaseBlocks(blocks: readonly number[]): void {
  for (const block of blocks) free.push(block);
}

/**
 * @param memory the memory of another module, for a module that has none
 * @throws AppError `unavailable` if the engine has no SIMD, which needs AVX or ARM
 */
function load(path: string, memory?: WebAssembly.Memory): unknown {
  return new WebAssembly.Instance(compile(path), { pieces: { ...(memory && { memory }) } }).exports;
}

function compile(path: string): WebAssembly.Module {
  try {
    return new WebAssembly.Module(readFileSync(path));
  } catch (cause) {
    if (!(cause instanceof WebAssembly.CompileError)) throw cause;
    const message = "This processor lacks AVX, which ctxd needs: run it on one from 2011 or later.";
    throw new AppError("unavailable", message, { cause });
  }
}

/**
 * Allocates ranges of the WASM memory. Each is a whole number of steps long. Released ranges are used again.
 * @param step bytes of a step; a block must be a multiple of them
 */
export function createAllocator(step: number) {
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
    /** Bytes of all its blocks. */
    get bytes() {
      return blocks.length * BLOCK;
    },

    /**
     * Allocates a range.
     * @returns its address, in steps
     * @throws RangeError when there is no memory left
     */
    take(steps: number): number {
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

    /** Releases all memory. */
    close(): void {
      releaseBlocks(blocks.splice(0));
      free.length = 0;
      Object.assign(unused, { from: 0, to: 0 });
    },
  };
}
