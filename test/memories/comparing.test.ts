import { expect, test } from "bun:test";
import type { Likeness, Likenesses } from "../../src/memories/log/likenesses/likenesses.ts";
import { createComparing } from "../../src/memories/upkeep/comparing.ts";
import { outcomeOf } from "../support/outcome.ts";

const relate = async () => ({ same: 1, changed: 0, answers: 0 });

const memoryOf = (at: number) => ({
  ...{ id: `mem_${at}`, content: "Ada drinks green tea in the morning", project: "p" },
  ...{ createdAt: at, updatedAt: at, source: null, supersededBy: null, tags: [], importance: 0.5 },
});

/** The comparison of a table with one parcel of memories, each with 32 others that say the same. */
function comparing({
  ids = ["mem_0"],
  note = async () => {},
  hasBegun = true,
}: {
  ids?: string[];
  note?: Likenesses["note"];
  hasBegun?: boolean;
} = {}) {
  const recorded: Likeness[] = [];
  const all = Array.from({ length: 33 }, (_, at) => memoryOf(at));
  const current = {
    get: (id: string) => all.find((memory) => memory.id === id),
    near: (id: string) =>
      all.flatMap((memory) => (memory.id === id ? [] : [{ memory, cosine: 0.99 }])),
  };
  const table = Object({
    ...{ name: "acc_1", fitsInMemory: () => true, view: { current } },
    model: { cosines: { unrelated: 0.5, same: 1 } },
  });
  const likenesses: Likenesses = {
    ...{ note, all: async () => recorded, reset: async () => {} },
    state: async () => ({ comparedTo: hasBegun ? null : undefined, parcel: { number: 1, ids } }),
    async record(_table, found) {
      recorded.push(...found);
      return true;
    },
  };
  return { recorded, ...createComparing({ table, likenesses, relate, lease: () => null }) };
}

test("of very many memories that say the same, each is paired with the nearest few", async () => {
  const { recorded, run } = comparing();
  await run(0);
  expect(recorded.map(({ later }) => later)).toEqual(["mem_1", "mem_2", "mem_3", "mem_4"]);
});

test("two memories that find each other in one step are one pair", async () => {
  const { recorded, run } = comparing({ ids: ["mem_0", "mem_1"] });
  await run(0);
  const pairs = recorded.map(({ later, earlier }) => [later, earlier]);
  expect(pairs.filter(([later]) => later === "mem_1")).toEqual([["mem_1", "mem_0"]]);
  expect(pairs).toHaveLength(7);
});

test("changes that could not be noted fail the next comparison, and not the flush", async () => {
  const { note, run, recorded } = comparing({
    note: () => Promise.reject(new Error("the disk is full")),
  });
  await note(new Map([["mem_0", memoryOf(0)]]));
  expect(await outcomeOf(run(0))).toThrow("the disk is full");
  await run(0);
  expect(recorded).toHaveLength(4);
});

test("before a table is compared from the start, a flush notes nothing to compare: all would be compared twice", async () => {
  const noted: (readonly string[])[] = [];
  for (const hasBegun of [false, true]) {
    const note: Likenesses["note"] = async (_, changed) => void noted.push(changed);
    await comparing({ hasBegun, note }).note(new Map([["mem_0", memoryOf(0)]]));
  }
  expect(noted).toEqual([[], ["mem_0"]]);
});

test("a flush drops the likenesses of what changed or was removed, and not those of what is new", async () => {
  const noted: (readonly string[])[] = [];
  const note: Likenesses["note"] = async (_, ...ids) => void noted.push(...ids);
  const changed = { ...memoryOf(1), updatedAt: 2 };
  await comparing({ note }).note(
    new Map([
      ["mem_0", memoryOf(0)],
      ["mem_1", changed],
      ["mem_2", null],
    ]),
  );
  expect(noted).toEqual([
    ["mem_0", "mem_1"],
    ["mem_1", "mem_2"],
  ]);
});
