import { expect, test } from "bun:test";
import type { Likeness, Likenesses } from "../../src/memories/log/likenesses/likenesses.ts";
import { createComparing } from "../../src/memories/upkeep/comparing.ts";

const memoryOf = (at: number) => ({
  ...{ id: `mem_${at}`, content: "Ada drinks green tea in the morning", project: "p" },
  ...{ createdAt: at, updatedAt: at, source: null, supersededBy: null, tags: [], importance: 0.5 },
});

/** The comparison of a table with one parcel, of a memory with 32 others that say the same. */
function comparing(note: Likenesses["note"] = async () => {}) {
  const recorded: Likeness[] = [];
  const others = Array.from({ length: 32 }, (_, at) => memoryOf(at + 1));
  const current = {
    get: () => memoryOf(0),
    near: () => others.map((memory) => ({ memory, cosine: 0.99 })),
  };
  const table = Object({
    ...{ name: "acc_1", fitsInMemory: () => true, view: { current } },
    model: { cosines: { unrelated: 0.5, same: 1 } },
  });
  const likenesses: Likenesses = {
    ...{ note, all: async () => recorded, reset: async () => {} },
    state: async () => ({ comparedTo: null, parcel: { number: 1, ids: ["mem_0"] } }),
    async record(_table, found) {
      recorded.push(...found);
      return true;
    },
  };
  return { recorded, ...createComparing({ table, likenesses }) };
}

test("of very many memories that say the same, each is paired with the nearest few", async () => {
  const { recorded, run } = comparing();
  await run(0);
  expect(recorded.map(({ later }) => later)).toEqual(["mem_1", "mem_2", "mem_3", "mem_4"]);
});

test("changes that could not be noted fail the next comparison, and not the flush", async () => {
  const { note, run, recorded } = comparing(() => Promise.reject(new Error("the disk is full")));
  await note(new Map([["mem_0", {}]]));
  await expect(run(0)).rejects.toThrow("the disk is full");
  await run(0);
  expect(recorded).toHaveLength(4);
});
