import { expect, test } from "bun:test";
import type { Caller } from "../../src/embedding/embedder.ts";
import { createAdmission } from "../../src/embedding/worker-embedder.ts";
import { rejectionOf } from "../support/outcome.ts";

const by = (accountId: string, id: string): Caller => ({ accountId, credential: { id } });

/** Admits work that waits until it is let go. @returns whether it was admitted */
function createHolder(max: { texts: number; characters: number }) {
  const admission = createAdmission(max);
  const gate = Promise.withResolvers<void>();
  const hold = (asker: Caller, characters: number) => {
    const before = admission.waiting();
    const held = admission.admit(asker, characters, () => gate.promise);
    held.catch(() => {});
    return { isAdmitted: admission.waiting() > before, held };
  };
  const fill = (asker: Caller, characters: number) => {
    let count = 0;
    while (hold(asker, characters).isAdmitted) count++;
    return count;
  };
  return { admission, hold, fill, letGo: gate.resolve };
}

test("whoever takes all that it gets leaves room for other accounts and for its own other keys", async () => {
  const { admission, hold, fill, letGo } = createHolder({ texts: 1_000, characters: 1_000_000 });
  expect(fill(by("a", "greedy"), 1)).toBe(250);
  expect(fill(by("a", "other"), 1)).toBe(125);
  expect(fill(by("b", "first"), 1)).toBeGreaterThan(100);
  for (let n = 0; n < 3; n++) fill(by(`account ${n}`, "key"), 1);
  expect(hold(by("late", "key"), 100).isAdmitted).toBe(true);
  const { isAdmitted, held } = hold(by("a", "greedy"), 1);
  expect(isAdmitted).toBe(false);
  expect(await rejectionOf(held)).toMatchObject({ code: "unavailable", retryAfter: 1 });
  letGo();
  await Bun.sleep(0);
  expect(admission.waiting()).toBe(0);
  expect(hold(by("a", "greedy"), 1).isAdmitted).toBe(true);
});

test("characters are limited like texts", () => {
  const { fill } = createHolder({ texts: 1_000, characters: 1_000 });
  expect(fill(by("a", "greedy"), 100)).toBe(2);
  expect(fill(by("b", "key"), 100)).toBe(2);
});
