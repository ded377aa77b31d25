import { expect, test } from "bun:test";
import { createLiveView } from "../../../src/memories/view/live-view.ts";
import { createView } from "../../../src/memories/view/view.ts";
import { model, storedMemories, storedMemory } from "../../support/bases.ts";
import { outcomeOf } from "../../support/outcome.ts";

/** A live view, which views of it were closed, and batches of which the second one waits. */
async function gatedView() {
  const closed: number[] = [];
  let made = 0;
  const live = createLiveView(() => {
    const number = made++;
    const view = createView(model.dimension);
    return Object.assign(Object.create(view), {
      close() {
        closed.push(number);
        view.close();
      },
    });
  });
  const gate = Promise.withResolvers<void>();
  const memories = await storedMemories(0, 4);
  async function* batches() {
    yield memories.slice(0, 2);
    await gate.promise;
    yield memories.slice(2);
  }
  return { live, closed, batches, go: gate.resolve };
}

test("a view that is closed while it is being filled gives its memory back", async () => {
  const { live, closed, batches, go } = await gatedView();
  const filling = live.fill({ memories: batches, changes: () => new Map() });
  live.close();
  expect(live.isFilling).toBe(false);
  go();
  expect(await outcomeOf(filling)).toThrow(/closed/);
  expect(live.current).toBeNull();
  expect(closed).toEqual([0]);
});

test("after that it is filled again, and neither of the two fillings disturbs the other", async () => {
  const { live, closed, batches, go } = await gatedView();
  const first = live.fill({ memories: batches, changes: () => new Map() });
  live.close();
  const second = live.fill({ memories: batches, changes: () => new Map() });
  await live.apply({ written: [await storedMemory(9)], removed: [], leavesOldData: false });
  go();
  expect(await outcomeOf(first)).toThrow(/closed/);
  expect((await second).size).toBe(5);
  expect(live.current?.size).toBe(5);
  expect(live.isFilling).toBe(false);
  expect(closed).toEqual([0]);
});
