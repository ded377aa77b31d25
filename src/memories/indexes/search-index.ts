import type { CompactVector } from "../compact-vector.ts";
import { type Accepts, createFlatIndex } from "./flat-index.ts";
import { createWordIndex } from "./word-index.ts";

/**
 * All that searches look for in a table's rows, in memory. It answers in a fraction of a
 * millisecond, where each question to LanceDB takes 4, for plans, threads and Arrow, however little
 * there is to find.
 */
export interface SearchIndex {
  /** How many rows can be found: those that were put last may have to wait for their turn. */
  readonly size: number;
  /** Adds a row, unless it is there: one that changes is to be removed first. */
  add(rowId: string, row: IndexedRow): void;
  remove(rowId: string): void;
  clear(): void;
  /** Ids of the rows whose vectors are nearest, about; see `FlatIndex`. */
  nearest(vector: Float32Array, count: number, accepts?: Accepts): string[];
  /** Ids of the rows whose words match best, and how well. */
  matching(words: string, count: number, accepts?: Accepts): { id: string; bm25: number }[];
}

interface IndexedRow {
  vector: CompactVector;
  /** `null` for a further passage of a memory. */
  content: string | null;
}

/** Bytes of all indexes together, about. */
export interface Usage {
  bytes: number;
}

/** Bytes of a row besides its vector, and of a word. */
const ROW = 300;
const WORD = 40;
/** Characters after which others have their turn: they take 5 ms. */
const TURN = 30_000;

/** @param dimension of the vectors */
export function createSearchIndex(dimension: number, usage: Usage): SearchIndex {
  const vectors = createFlatIndex(dimension);
  const words = createWordIndex();
  const waiting = new Map<string, IndexedRow>();
  let left = TURN;
  let isTurnOver = true;
  let bytes = 0;

  const count = () => {
    const now = vectors.size * (dimension + ROW) + words.words * WORD;
    usage.bytes += now - bytes;
    bytes = now;
  };

  const clear = () => {
    waiting.clear();
    vectors.clear();
    words.clear();
    count();
  };

  const takeTurn = () => {
    for (const [rowId, { vector, content }] of waiting) {
      if (left <= 0) break;
      waiting.delete(rowId);
      vectors.put(rowId, vector);
      if (content !== null) words.put(rowId, content);
      left -= content?.length ?? 0;
    }
    count();
  };

  const work = () => {
    try {
      takeTurn();
    } catch {
      // There is no memory left. What was to be indexed is in the table, which is searched then.
      clear();
    }
    if (!isTurnOver || left === TURN) return;
    isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
      left = TURN;
      work();
    });
  };

  return {
    get size() {
      return vectors.size;
    },
    add(rowId, row) {
      if (waiting.has(rowId) || vectors.has(rowId)) return;
      waiting.set(rowId, row);
      work();
    },
    remove(rowId) {
      waiting.delete(rowId);
      vectors.remove(rowId);
      words.remove(rowId);
      count();
    },
    clear,
    nearest: vectors.nearest,
    matching: words.matching,
  };
}
