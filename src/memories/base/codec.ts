import { tableFromIPC } from "apache-arrow";
import type { MemoryRow, StoredMemory } from "../rows.ts";
import type { MemoryCodec } from "./base.ts";
import { createAssembly } from "./decode.ts";

/**
 * The first byte of what this version writes. Entries of the earlier one are Arrow streams, which
 * begin with 255: for one memory they take twice the space and several times the time.
 */
const VERSION = 1;
/** Bytes before the texts: the version and, from the fourth on, how long the texts are. */
const HEAD = 8;
const NUMBER = Float32Array.BYTES_PER_ELEMENT;

/** What comes as JSON before the vectors, which follow in the same order. */
interface Texts {
  dimension: number;
  memories: (MemoryRow & { passages: number })[];
}

/** Memories as one run of bytes: their fields as JSON, then all vectors (little-endian floats). */
export const memoryCodec: MemoryCodec = {
  encode(memories, { dimension }) {
    if (memories.some(({ vectors }) => vectors.length === 0)) {
      throw new RangeError("a memory has no vector");
    }
    const vectors = memories.flatMap((memory) => memory.vectors);
    if (vectors.some(({ length }) => length !== dimension)) {
      throw new RangeError(`a vector has another number of dimensions than ${dimension}`);
    }
    const texts: Texts = {
      dimension,
      memories: memories.map(({ vectors, ...row }) => ({ ...row, passages: vectors.length })),
    };
    const json = Buffer.from(JSON.stringify(texts));
    const bytes = Buffer.alloc(HEAD + json.length + vectors.length * dimension * NUMBER);
    bytes[0] = VERSION;
    bytes.writeUInt32LE(json.length, 4);
    bytes.set(json, HEAD);
    vectors.forEach(({ buffer, byteOffset, byteLength }, index) => {
      const at = HEAD + json.length + index * dimension * NUMBER;
      bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    });
    return bytes;
  },

  decode(bytes) {
    if (bytes[0] !== VERSION) return decodeArrow(bytes);
    const { buffer, byteOffset } = bytes;
    const length = new DataView(buffer, byteOffset).getUint32(4, true);
    const json = new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length));
    const { dimension, memories }: Texts = JSON.parse(json);
    // Floats are read where their address is a multiple of four.
    const numbers = new Float32Array(new Uint8Array(bytes.subarray(HEAD + length)).buffer);
    let at = 0;
    const next = () => {
      at += dimension;
      return numbers.slice(at - dimension, at);
    };
    return memories.map(({ passages, ...row }) => ({
      ...row,
      vectors: Array.from({ length: passages }, next),
    }));
  },
};

function decodeArrow(bytes: Uint8Array): StoredMemory[] {
  const assembly = createAssembly();
  const memories = assembly.add(tableFromIPC(bytes));
  assembly.end();
  return memories;
}
