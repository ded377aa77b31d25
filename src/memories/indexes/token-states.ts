import { MAX_STATES, STATE_BYTES } from "../../embedding/embedder.ts";
import { grow } from "./growing-arrays.ts";
import { ASKED, createAllocator, interact, views } from "./wasm-memory.ts";

/** Bytes of a token of the question: its numbers, its weight, and space to the next address. */
const ASKED_SIZE = 144;
/** Where its weight is, in units of four bytes. */
const WEIGHT = 128 / 4;
/** The product of a state with itself. */
const SAME = 127 ** 2;

export type StateIndex = ReturnType<typeof createStateIndex>;

/** Token states by small whole numbers, their owners; see `TokenStates`. */
export function createStateIndex() {
  const room = createAllocator(STATE_BYTES);
  /** Of each owner: where its states are, and how many. */
  let places = new Int32Array(0);
  let counts = new Int32Array(0);

  return {
    get bytes() {
      return room.bytes + 4 * (places.length + counts.length);
    },

    /**
     * Adds the states of an owner that has none.
     * @throws RangeError when there is no memory left; then the index must be closed
     */
    put(owner: number, states: Int8Array): void {
      const count = states.length / STATE_BYTES;
      if (count === 0) return;
      places = grow(places, owner + 1);
      counts = grow(counts, owner + 1);
      const place = room.take(count);
      views.integers.set(states, place * STATE_BYTES);
      places[owner] = place;
      counts[owner] = count;
    },

    remove(owner: number): void {
      const count = counts[owner] ?? 0;
      if (count === 0) return;
      room.release(places[owner] ?? 0, count);
      counts[owner] = 0;
    },

    /**
     * The late interaction (ColBERT) of a question with owners, −1 to 1: for each token of the question the similarity
     * of the nearest token of the owner, averaged by weight.
     * @param owners `undefined` for a missing one
     * @returns `null` for owners without states, and for all owners if all weights are 0
     */
    interaction(
      asked: Int8Array,
      weights: readonly number[],
      owners: readonly (number | undefined)[],
    ): (number | null)[] {
      const { total, end } = prepare(asked, weights);
      return owners.map((owner = -1) => {
        const own = counts[owner] ?? 0;
        if (own === 0 || total === 0) return null;
        const from = (places[owner] ?? 0) * STATE_BYTES;
        const sum = interact(ASKED, end, from, from + own * STATE_BYTES);
        return Math.max(-1, Math.min(1, sum / (total * SAME)));
      });
    },

    close(): void {
      room.close();
      counts = new Int32Array(0);
    },
  };
}

/**
 * Copies the tokens of a question that have a weight to their place in the memory.
 * @returns the sum of the weights, and the address after the last token
 */
function prepare(asked: Int8Array, weights: readonly number[]) {
  const count = Math.min(MAX_STATES, asked.length / STATE_BYTES);
  let total = 0;
  let end = ASKED;
  for (let token = 0; token < count; token++) {
    const weight = weights[token] ?? 0;
    if (weight === 0) continue;
    const numbers = new Int16Array(views.floats.buffer, end, STATE_BYTES);
    numbers.set(asked.subarray(token * STATE_BYTES, (token + 1) * STATE_BYTES));
    views.floats[end / 4 + WEIGHT] = weight;
    total += weight;
    end += ASKED_SIZE;
  }
  return { total, end };
}

/** Interactions by the names of their owners, without those that are `null`. */
export function byName(
  names: readonly string[],
  interactions: readonly (number | null)[],
): Map<string, number> {
  const found = new Map<string, number>();
  for (const [at, name] of names.entries()) {
    const value = interactions[at] ?? null;
    if (value !== null) found.set(name, value);
  }
  return found;
}
