import { expect, test } from "bun:test";
import { changedWords } from "../../src/dashboard/memory/memory-history.tsx";

/** Changes as text: removed words in `[-…]`, added words in `[+…]`. */
const shown = (before: string, after: string) =>
  changedWords(before, after)
    ?.map(({ kind, text }) => (kind === "same" ? text : `[${kind === "added" ? "+" : "-"}${text}]`))
    .join("") ?? null;

test.each([
  ["Sam works at Acme", "Sam works at Globex since May", "Sam works at [-Acme][+Globex since May]"],
  ["on Tuesdays and Fridays.", "on Tuesdays.", "on Tuesdays[-and Fridays]."],
  ["one two three", "one two three", "one two three"],
  [
    "our host is a.example",
    "Since May our host is a.example",
    "[+Since May ]our host is a.example",
  ],
  ["我喜欢绿茶和咖啡", "我喜欢红茶和咖啡", "我喜欢[-绿茶][+红茶]和咖啡"],
])("%p became %p", (before, after, expected) => {
  expect(shown(before, after)).toBe(expected);
});

test("different or very long texts are not compared", () => {
  expect(changedWords("Sam likes green tea", "The roof was mended in May")).toBeNull();
  const long = "word ".repeat(2_000);
  expect(changedWords(long, `${long}more`)).toBeNull();
});

test("unchanged and added words form the later text", () => {
  const words = ["a", "b", "c", "d ", " e", "\n", "f."];
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const text = () => Array.from({ length: 5 + random(30) }, () => words[random(7)]).join(" ");
  for (let round = 0; round < 200; round++) {
    const [before, after] = [text(), text()];
    const runs = changedWords(before, after);
    if (!runs) continue;
    const join = (left: string) =>
      runs.flatMap(({ kind, text }) => (kind === left ? [] : text)).join("");
    expect(join("removed")).toBe(after);
    expect(join("added").replaceAll(/\s/g, "")).toBe(before.replaceAll(/\s/g, ""));
  }
});
