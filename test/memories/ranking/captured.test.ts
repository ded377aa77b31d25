import { expect, test } from "bun:test";
import { placeAmongSaved } from "../../../src/memories/ranking/considered.ts";
import { chanceOf } from "../../../src/memories/ranking/relevance.ts";

/** A result whose chance is as high as its place. */
const one = (kind: string, order: number) => {
  const chance = chanceOf(order);
  return { kind, order, logOdds: order, chance, score: chance };
};

/** The kinds of results in their order: `s`aved, `c`aptured. */
function merge(
  saved: number[],
  captured: number[],
  { states = true, asks = false, namesMore = false } = {},
) {
  return placeAmongSaved(
    saved.map((order) => one("s", order)),
    captured.map((order) => one("c", order)),
    { states: () => states, asks: () => asks, namesMore: () => namesMore },
  );
}
const kindsOf = (placed: readonly { kind: string }[]) => placed.map(({ kind }) => kind).join("");

test("what the user states in a turn comes before what was saved if it is a far better answer", () => {
  expect(kindsOf(merge([1, -2], [2, 0]))).toBe("sccs");
  expect(kindsOf(merge([1], [3]))).toBe("cs");
  expect(kindsOf(merge([-4], [-2]))).toBe("cs");
  expect(kindsOf(merge([], [-4, 2]))).toBe("cc");
});

test("a smaller lead is enough over a memory that lacks what the question names", () => {
  expect(kindsOf(merge([1], [2], { namesMore: true }))).toBe("cs");
  expect(kindsOf(merge([1], [1.2], { namesMore: true }))).toBe("sc");
  expect(kindsOf(merge([1], [2], { states: false, namesMore: true }))).toBe("sc");
});

test("a turn that only asks comes after what was saved, and after what was stated", () => {
  expect(kindsOf(merge([-3], [4], { states: false }))).toBe("sc");
  const placed = placeAmongSaved([], [one("asks", 3), one("states", -2)], {
    states: ({ kind }) => kind === "states",
    asks: ({ kind }) => kind === "asks",
    namesMore: () => false,
  });
  expect(kindsOf(placed)).toBe("statesasks");
});

test("nothing is lost, no result has a higher score than the one before it, and a turn is as likely as what it leads", () => {
  const placed = merge([1, 0.5, -3], [3, -1, 2.2]);
  const ordersOf = (wanted: string) =>
    placed.flatMap(({ kind, order }) => (kind === wanted ? order : []));
  expect(ordersOf("s")).toEqual([1, 0.5, -3]);
  expect(ordersOf("c")).toEqual([3, 2.2, -1]);
  const scores = placed.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  const [turn] = placeAmongSaved(
    [{ ...one("s", 0), chance: 0.9, score: 0.8, logOdds: 2.2 }],
    [{ ...one("c", 2), chance: 0.2, score: 0.2, logOdds: -1.4 }],
    { states: () => true, asks: () => false, namesMore: () => false },
  );
  expect(turn).toMatchObject({ kind: "c", chance: 0.9, logOdds: 2.2, score: 0.8 });
});

test("who asked a question before does not make it likely that something is known, but an answer does", () => {
  const likelier = (asks: boolean) => merge([-3], [4], { states: false, asks })[1];
  expect(likelier(true)).toMatchObject({ kind: "c", chance: chanceOf(-3) });
  expect(likelier(false)).toMatchObject({ kind: "c", chance: chanceOf(4) });
  const behind = placeAmongSaved([one("s", -3)], [{ ...one("c", -4), chance: 0.9 }], {
    states: () => true,
    asks: () => false,
    namesMore: () => false,
  });
  expect(behind[1]).toMatchObject({ kind: "c", chance: chanceOf(-3) });
});
