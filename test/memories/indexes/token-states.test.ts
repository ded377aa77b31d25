import { expect, test } from "bun:test";
import { MAX_STATES, STATE_BYTES } from "../../../src/embedding/embedder.ts";
import { createStateIndex } from "../../../src/memories/indexes/token-states.ts";
import { createVectorIndex } from "../../../src/memories/indexes/vectors.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(3);

/** States of so many tokens. */
function statesOf(count: number): Int8Array {
  const states = new Int8Array(count * STATE_BYTES);
  for (let token = 0; token < count; token++) {
    const numbers = Array.from({ length: STATE_BYTES }, () => random.next() - 0.5);
    const length = Math.hypot(...numbers);
    states.set(
      numbers.map((number) => Math.round((127 * number) / length)),
      token * STATE_BYTES,
    );
  }
  return states;
}

/** The same in plain words. */
function expected(asked: Int8Array, weights: readonly number[], states: Int8Array): number {
  const rows = (all: Int8Array) =>
    Array.from({ length: all.length / STATE_BYTES }, (_, row) =>
      all.subarray(row * STATE_BYTES, (row + 1) * STATE_BYTES),
    );
  const product = (a: Int8Array, b: Int8Array) =>
    a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);
  let [sum, total] = [0, 0];
  for (const [token, row] of rows(asked).entries()) {
    const weight = weights[token] ?? 0;
    sum += weight * Math.max(...rows(states).map((other) => product(row, other)));
    total += weight;
  }
  return sum / total / 127 ** 2;
}

test("each word of a question is compared with the nearest of a memory, by weight, while memories come and go", () => {
  const index = createStateIndex();
  const vectors = createVectorIndex(200);
  const known = new Map<number, Int8Array>();
  for (let turn = 0; turn < 4_000; turn++) {
    const owner = random.below(300);
    index.remove(owner);
    known.delete(owner);
    vectors.remove(owner);
    if (random.below(4) === 0) continue;
    const states = statesOf(random.below(10) === 0 ? MAX_STATES : random.below(9));
    index.put(owner, states);
    known.set(owner, states);
    // Others have pieces of the same memory.
    vectors.put(owner, [new Float32Array(200).fill(turn)]);
  }
  for (const count of [1, 5, MAX_STATES]) {
    const asked = statesOf(count);
    const weights = Array.from({ length: count }, () => random.below(5));
    weights[0] = 1;
    const owners = Array.from({ length: 320 }, (_, owner) => (owner % 7 === 3 ? undefined : owner));
    const found = index.interaction(asked, weights, owners);
    for (const [place, owner] of owners.entries()) {
      const states = known.get(owner ?? -1);
      if (!states?.length) expect(found[place]).toBeNull();
      else expect(found[place]).toBeCloseTo(expected(asked, weights, states), 4);
    }
  }
  index.close();
  expect(index.interaction(statesOf(1), [1], [...known.keys()])).toEqual(
    [...known].map(() => null),
  );
});

test("the same words are 1, and a question without weight says nothing", () => {
  const index = createStateIndex();
  const states = statesOf(3);
  index.put(0, states);
  expect(index.interaction(states, [1, 2, 3], [0])[0]).toBeCloseTo(1, 1);
  expect(
    index.interaction(
      states.map((number) => -number),
      [1, 0, 0],
      [0],
    )[0],
  ).toBeLessThan(0.5);
  expect(index.interaction(states, [0, 0, 0], [0])).toEqual([null]);
  expect(index.interaction(new Int8Array(0), [], [0])).toEqual([null]);
});

test("what is removed leaves its room to others", () => {
  const index = createStateIndex();
  for (let owner = 0; owner < 2_000; owner++) index.put(owner, statesOf(1 + (owner % 20)));
  const { bytes } = index;
  for (let owner = 0; owner < 2_000; owner++) {
    index.remove(owner);
    index.put(owner, statesOf(1 + ((owner + 1) % 20)));
  }
  expect(index.bytes).toBeLessThan(1.1 * bytes);
});
