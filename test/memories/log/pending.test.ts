import { expect, test } from "bun:test";
import { createPending } from "../../../src/memories/log/pending.ts";
import { type StoredMemory, UNSET } from "../../../src/memories/model/rows.ts";
import { idOf } from "../../support/bases.ts";

const MANY = 100_000;

function memoryOf(number: number, content: string): StoredMemory {
  const times = { createdAt: 1, updatedAt: 1 };
  const embedding = { vectors: [new Float32Array(2)], starts: [0], states: new Int8Array(4) };
  return { ...UNSET, ...times, ...embedding, id: idOf(number), content };
}

test("changes that a flush has written are dropped, and not what changes meanwhile", async () => {
  const pending = createPending();
  const written = Array.from({ length: MANY }, (_, number) => memoryOf(number, "before"));
  pending.note(1, { written, removed: [], leavesOldData: false });
  pending.note(2, { written: [], removed: [idOf(1)], leavesOldData: true });
  let [turns, isOver] = [0, false];
  const dropping = pending.drop(2, 7).finally(() => {
    isOver = true;
  });
  const last = memoryOf(MANY - 1, "meanwhile");
  while (!isOver) {
    if (turns++ === 1) {
      expect(pending.get(idOf(0))).toBeUndefined();
      const removed = [idOf(MANY - 2)];
      pending.note(3, { written: [last, memoryOf(MANY, "new")], removed, leavesOldData: true });
      expect(pending.get(idOf(MANY - 3))?.content).toBe("before");
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await dropping;
  expect(pending.memories().map(({ content }) => content)).toEqual(["meanwhile", "new"]);
  expect(pending.all().get(idOf(MANY - 2))).toBeNull();
  expect(pending.get(idOf(1))).toBeUndefined();
  expect(pending.size).toBe(3);
  expect(pending.dirtySince).toBe(7);

  const same = createPending();
  const [first, second] = pending.memories();
  if (!first || !second) throw new Error("nothing is pending");
  same.note(3, { written: [first, second], removed: [idOf(MANY - 2)], leavesOldData: true });
  expect(pending.bytes).toBe(same.bytes);
  await pending.drop(3, 8);
  expect([pending.size, pending.bytes, pending.dirtySince]).toEqual([0, 0, null]);
});
