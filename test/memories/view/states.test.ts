import { expect, test } from "bun:test";
import { STATE_BYTES } from "../../../src/embedding/embedder.ts";
import { createView } from "../../../src/memories/view/view.ts";
import { DIMENSION, memoryOf } from "./random-memories.ts";

test("memories are compared word by word; what is removed or has no states is left out", () => {
  const view = createView(DIMENSION);
  const states = (place: number) => new Int8Array(STATE_BYTES).fill(127, place, place + 1);
  view.put({ ...memoryOf("near"), states: Int8Array.of(...states(1), ...states(2)) });
  view.put({ ...memoryOf("half"), states: states(2) });
  view.put({ ...memoryOf("gone"), states: states(1) });
  view.put({ ...memoryOf("changed"), states: states(1) });
  view.put({ ...memoryOf("earlier"), states: new Int8Array(0) });
  view.remove("gone");
  view.put({ ...memoryOf("changed"), states: states(5) });
  const asked = { numbers: Int8Array.of(...states(1), ...states(2)), words: ["red", "pears"] };
  const ids = ["earlier", "near", "unknown", "gone", "half", "changed"];
  expect([...(view.interaction(ids, asked, [3, 1]) ?? [])]).toEqual([
    ["near", 1],
    ["half", 0.25],
    ["changed", 0],
  ]);
});

test("a view of too many memories keeps no states", () => {
  const view = createView(DIMENSION, 10);
  const asked = { numbers: new Int8Array(STATE_BYTES).fill(1), words: ["pears"] };
  const states = new Int8Array(STATE_BYTES * 90).fill(1);
  for (let id = 0; id < 10; id++) view.put({ ...memoryOf(`id ${id}`), states });
  expect(view.interaction(["id 1"], asked, [1])?.size).toBe(1);
  const { bytes } = view;
  view.put({ ...memoryOf("one more"), states });
  expect(view.interaction(["id 1"], asked, [1])).toBeNull();
  expect(view.bytes).toBeLessThan(bytes);
  view.put({ ...memoryOf("id 1"), states });
  expect(view.get("id 1")).not.toBeNull();
});
