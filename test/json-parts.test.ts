import { expect, test } from "bun:test";
import { createJsonParts, TooLong } from "../src/text/json-parts.ts";
import { createRandom } from "./support/random.ts";

const LIMITS = { maxPart: 1_000, maxOutline: 1_000 };

/** Cuts a text into chunks of a number of bytes and joins its parts again; null if it is not JSON. */
function readBack(text: string, size: number): unknown {
  const parts = createJsonParts(LIMITS);
  const values: unknown[] = [];
  const bytes = Buffer.from(text);
  try {
    for (let start = 0; start < bytes.length; start += size) {
      // As a server does, which uses its memory again.
      const chunk = Buffer.from(bytes.subarray(start, start + size));
      for (const part of parts.read(chunk)) values.push(JSON.parse(part.toString()));
      chunk.fill(0);
    }
    const outline: unknown = JSON.parse(parts.outline()?.toString() ?? "");
    return restore(outline, values);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The outline with its parts where they were. */
function restore(outline: unknown, values: readonly unknown[]): unknown {
  const put = (value: unknown): unknown =>
    Array.isArray(value) ? values[Number(value[0])] : value;
  const inList = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(put);
    return value !== null && typeof value === "object"
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, put(each)]))
      : value;
  };
  if (Array.isArray(outline)) return outline.map(inList);
  if (outline === null || typeof outline !== "object") return outline;
  return Object.fromEntries(Object.entries(outline).map(([name, each]) => [name, inList(each)]));
}

const TEXTS = [
  '{"memories":[{"content":"x"},{"content":"y","tags":["a","b"]}]}',
  '{ "memories" : [ { "a" : [ 1 , { } ] } , 5 , "x" , null , [ ] ] , "more" : { "b" : [ { } ] } }',
  '{"memories":[{"content":"} ] \\" \\\\"},{"日本":"🦜\\u0000"}]}',
  '{"a":[[0],[1]],"a":[{"b":2}]}',
  "[[[[1]],[2]],3]",
  '"x"',
  "1",
];

test.each(TEXTS)("the parts and the outline are all of it: %s", (text) => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    expect(readBack(text, size)).toEqual(JSON.parse(text));
  }
});

test("a text is JSON if and only if its parts and its outline are", () => {
  const random = createRandom(7);
  const marks = [...'{}[]",:\\ 1a'];
  let broken = 0;
  for (let round = 0; round < 5_000; round++) {
    const text = random.pick(TEXTS) ?? "";
    const place = random.below(text.length);
    // Of half a pair, which is no text, the replacement character is left.
    const changed =
      `${text.slice(0, place)}${random.pick(marks)}${text.slice(place + random.below(2))}`.toWellFormed();
    let expected: unknown = null;
    try {
      expected = JSON.parse(changed);
    } catch {
      broken++;
    }
    expect([changed, readBack(changed, 1 + random.below(9))]).toEqual([changed, expected]);
  }
  expect(broken).toBeGreaterThan(1_000);
});

test("a part, and what is around them, may only be so long; white space may be longer", () => {
  const read = (text: string) => readBack(text, 64);
  expect(read(`{"a":[${" ".repeat(9_000)}{}]}`)).toEqual({ a: [{}] });
  expect(() => read(`{"a":[{"b":"${"x".repeat(1_000)}"}]}`)).toThrow(TooLong);
  expect(() => read(`{"a":["${"x".repeat(1_000)}"]}`)).toThrow(TooLong);
  expect(() => read("[".repeat(5_000))).toThrow(TooLong);
});
