import Arrow = require("apache-arrow");

import { type MemoryRow, type StoredMemory, UNSET } from "../model/rows.ts";
import type { MemoryCodec } from "./base.ts";
import { createAssembly } from "./decode.ts";

/**
 * The first byte of an encoded entry. Entries of earlier versions are Arrow streams, which begin with 255. For one
 * memory, Arrow takes twice the space and several times the time.
 */
const VERSION = 1;
/** Bytes before the JSON: the version, three unused bytes, and the length of the JSON (32 bits, little-endian). */
const HEAD = 8;
const NUMBER = Float32Array.BYTES_PER_ELEMENT;

/** The JSON. Vectors and states follow in the order of its memories. */
interface Texts {
  dimension: number;
  memories: LoggedRow[];
}

interface LoggedRow extends Omit<MemoryRow, "starts"> {
  passages: number;
  /** Missing in entries of earlier versions. */
  starts?: number[];
  /** Bytes of its token states; missing in entries of earlier versions. */
  states?: number;
}

/** Encodes memories as their fields in JSON, then all vectors (little-endian floats), then all token states. */
export const memoryCodec: MemoryCodec = {
  encode(memories, { dimension }) {
    if (memories.some(({ vectors }) => vectors.length === 0)) {
      throw new RangeError("a memory has no vector");
    }
    const vectors = memories.flatMap((memory) => memory.vectors);
    if (vectors.some(({ length }) => length !== dimension)) {
      throw new RangeError(`a vector does not have ${dimension} dimensions`);
    }
    const texts: Texts = {
      dimension,
      memories: memories.map(({ vectors, states, ...row }) => ({
        ...row,
        passages: vectors.length,
        states: states.length,
      })),
    };
    const json = Buffer.from(JSON.stringify(texts));
    // Copied by their values: reading `buffer` makes an object for each array, which every full garbage collection
    // visits as long as the memory waits for its flush.
    const numbers = new Float32Array(vectors.length * dimension);
    vectors.forEach((vector, index) => void numbers.set(vector, index * dimension));
    const states = memories.map((memory) => memory.states);
    const parts = [json, new Uint8Array(numbers.buffer), ...states];
    const bytes = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, HEAD));
    bytes[0] = VERSION;
    bytes.writeUInt32LE(json.length, 4);
    let at = HEAD;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  },

  decode(bytes) {
    if (bytes[0] !== VERSION) return decodeArrow(bytes);
    const { buffer, byteOffset } = bytes;
    const length = new DataView(buffer, byteOffset).getUint32(4, true);
    const json = new TextDecoder().decode(bytes.subarray(HEAD, HEAD + length));
    const { dimension, memories }: Texts = JSON.parse(json);
    let at = HEAD + length;
    // A copy, since typed arrays need an aligned address and the database returns bytes at any address.
    const next = (size: number): ArrayBuffer => {
      at += size;
      return new Uint8Array(bytes.subarray(at - size, at)).buffer;
    };
    const nextVector = () => new Float32Array(next(dimension * NUMBER));
    const vectors = memories.map(({ passages }) => Array.from({ length: passages }, nextVector));
    return memories.map(({ passages: _, starts = [], states = 0, ...row }, index) => ({
      ...UNSET,
      ...row,
      vectors: vectors[index] ?? [],
      starts,
      states: new Int8Array(next(states)),
    }));
  },
};

function decodeArrow(bytes: Uint8Array): StoredMemory[] {
  const assembly = createAssembly();
  const memories = assembly.add(Arrow.tableFromIPC(bytes));
  assembly.end();
  return memories;
}
