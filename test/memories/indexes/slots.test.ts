import { expect, test } from "bun:test";
import { createSlots } from "../../../src/memories/indexes/slots.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(3);

test("each key has a slot of its own, which another one gets when it is gone", () => {
  const keys: (string | undefined)[] = [];
  const slots = createSlots((slot) => keys[slot] ?? "");
  const model = new Map<string, number>();
  for (let turn = 0; turn < 20_000; turn++) {
    const key = `key ${random.below(700)}`;
    const known = model.get(key);
    expect(slots.find(key)).toBe(known);
    if (known === undefined) {
      const slot = slots.add(key);
      expect(keys[slot]).toBeUndefined();
      keys[slot] = key;
      model.set(key, slot);
    } else if (random.below(3) === 0) {
      slots.remove(known);
      keys[known] = undefined;
      model.delete(key);
    }
  }
  expect(slots.size).toBe(model.size);
  expect(slots.end).toBeLessThanOrEqual(700);
  for (let slot = 0; slot < slots.end; slot++)
    expect(slots.has(slot)).toBe(keys[slot] !== undefined);
});
