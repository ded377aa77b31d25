import { expect, test } from "bun:test";
import { placeAmongSaved } from "../../../src/memories/ranking/considered.ts";

const FLOOR = 0.2;
const some = (...scores: number[]) => scores.map((score) => ({ score, chance: score, sum: 0 }));
const merge = (saved: number[], captured: number[]) =>
  placeAmongSaved(
    some(...saved).map((one) => ({ ...one, kind: "saved" })),
    some(...captured).map((one) => ({ ...one, kind: "captured" })),
    FLOOR,
    () => true,
  );
const kindsOf = (placed: readonly { kind: string }[]) => placed.map(({ kind }) => kind[0]).join("");

test("what was saved and is taken for an answer comes before whatever was captured", () => {
  expect(kindsOf(merge([0.9, 0.25], [0.99, 0.9]))).toBe("sscc");
});

test("what states something comes before what was saved if it is a far better answer", () => {
  const place = (sum: number, states: boolean) => {
    const [saved, turn] = [some(0.9), some(0.9)];
    return kindsOf(
      placeAmongSaved(
        saved.map((one) => ({ ...one, kind: "saved" })),
        turn.map((one) => ({ ...one, sum, kind: "captured" })),
        FLOOR,
        () => states,
      ),
    );
  };
  expect(place(1.5, true)).toBe("cs");
  expect(place(0.5, true)).toBe("sc");
  expect(place(1.5, false)).toBe("sc");
});

test("of what is taken for no answer, a captured turn comes first only where it is much better", () => {
  expect(kindsOf(merge([0.9, 0.1], [0.1]))).toBe("ssc");
  expect(kindsOf(merge([0.9, 0.1], [0.6]))).toBe("ssc");
  expect(kindsOf(merge([0.9, 0.02], [0.9]))).toBe("scs");
  expect(kindsOf(merge([], [0.9, 0.1]))).toBe("cc");
  expect(kindsOf(merge([0, 0], [0]))).toBe("ssc");
});

test("the order of each stays, nothing is lost, and no score is higher than the one before", () => {
  const placed = merge([0.9, 0.3, 0.05, 0.01], [0.99, 0.97, 0.5, 0.001]);
  expect(placed).toHaveLength(8);
  for (const kind of ["saved", "captured"]) {
    const chances = placed.filter((one) => one.kind === kind).map(({ chance }) => chance);
    expect(chances).toEqual(chances.toSorted((a, b) => b - a));
  }
  const scores = placed.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  // What it is worth by itself is still known.
  expect(placed.find(({ kind }) => kind === "captured")).toMatchObject({
    score: 0.3,
    chance: 0.99,
  });
});
