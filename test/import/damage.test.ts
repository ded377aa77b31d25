import { expect, test } from "bun:test";
import { readContent, readSource } from "../support/import.ts";
import { outcomeOf } from "../support/outcome.ts";

const LIST = JSON.stringify({
  results: Array.from({ length: 10 }, (_, n) => ({ id: `${n}`, memory: `Memory ${n}` })),
});
const GRAPH = ["bees", "tea", "maps"].map((text) =>
  JSON.stringify({ type: "entity", name: "Ada", entityType: "person", observations: [text] }),
);

test("a JSON document that is cut off gives what comes before", async () => {
  for (let end = 40; end < LIST.length; end++) {
    const { memories, problems } = await readContent(LIST.slice(0, end));
    const whole = [...LIST.slice(0, end).matchAll(/"memory":"[^"]+"\}/g)].length;
    expect({ end, memories: memories.length }).toEqual({ end, memories: whole });
    expect(problems).toEqual([`entry ${whole + 1}: is cut off in line 1: the rest was not read`]);
  }
});

test("a JSON document that is damaged in the middle gives what comes before", async () => {
  const damaged = LIST.replace('"Memory 6"', "Memory 6");
  const { memories, problems } = await readContent(damaged);
  expect(memories).toHaveLength(6);
  expect(problems).toEqual(["entry 7: is broken JSON in line 1: the rest was not read"]);
  const inLines = await readContent(damaged.replaceAll('{"id"', '\n{"id"'));
  expect(inLines.problems).toEqual(["entry 7: is broken JSON in line 8: the rest was not read"]);
  const bytes = Buffer.from(LIST);
  bytes[LIST.indexOf("Memory 6")] = 0xff;
  const other = await readContent(bytes);
  expect(other.problems).toEqual([
    `entry ${other.memories.length + 1}: is not text in UTF-8: the rest was not read`,
  ]);
});

test("of lines, only those that are damaged are lost", async () => {
  const [first, second, third] = GRAPH;
  const text = `${first}\n${second?.slice(0, 40)}\n\n[1]\n${third}\n{"type":"other"}\n${first?.slice(0, 9)}`;
  const { memories, problems } = await readContent(text);
  expect(memories.map(({ content }) => content)).toEqual(["Ada: bees", "Ada: maps"]);
  expect(problems).toEqual([
    "line 2: is not a JSON object",
    "line 4: is not a JSON object",
    "line 6: is neither an entity nor a relation",
    "line 7: is not a JSON object",
  ]);
});

const utf16 = (text: string, isBigEndian: boolean) => {
  const bytes = Buffer.from(text, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
};
const TEXT = "Zürich is nice.\r\n\r\nSo is 東京.";

test.each([
  ["UTF-8 with a mark", Buffer.from(`\ufeff${TEXT}`)],
  ["UTF-16 with a mark", utf16(`\ufeff${TEXT}`, false)],
  ["UTF-16, big-endian, with a mark", utf16(`\ufeff${TEXT}`, true)],
  ["UTF-16 without a mark", utf16(TEXT, false)],
  ["UTF-16, big-endian, without a mark", utf16(TEXT, true)],
])("%s is read", async (_, bytes) => {
  const { memories, problems } = await readContent(bytes);
  expect(memories.map(({ content }) => content)).toEqual(["Zürich is nice.", "So is 東京."]);
  expect(problems).toEqual([]);
});

test("lines in another encoding are named, and the others read", async () => {
  const bytes = Buffer.concat([
    Buffer.from("One.\n\n"),
    Buffer.from("Z\xfcrich\n", "latin1"),
    Buffer.from("\nThree.\n"),
  ]);
  const { memories, problems } = await readContent(bytes);
  expect(memories.map(({ content }) => content)).toEqual(["One.", "Three."]);
  expect(problems).toEqual(["line 3: is not text in UTF-8"]);
});

test.each([
  [
    "a program",
    Buffer.from("\x7fELF\x02\x01\x01\0\0\0\0\0\0\x03\0>\0", "latin1"),
    "is binary, not text.",
  ],
  ["a compressed file", Buffer.from("\x1f\x8b\x08\0", "latin1"), "is compressed: unpack it first."],
  ["a damaged archive", Buffer.from("PK\x03\x04 memories.json"), "is a damaged archive."],
  ["a damaged PDF", Buffer.from("%PDF-1.4\nnothing"), "is a damaged PDF."],
  ["JSON of another kind", '{"openapi": "3.1.0"}', "is JSON in an unknown format"],
])("%s is refused", async (_, content, reason) => {
  expect(await outcomeOf(readContent(content))).toThrow(reason);
});

test("a missing file is refused", async () => {
  expect(await outcomeOf(readSource("/nonexistent/file"))).toThrow(
    "/nonexistent/file does not exist.",
  );
});

test("an empty file contains no memories", async () => {
  for (const text of ["", "\n \n\r\n", "---\ntags: [a]\n---\n", "id,text\n"]) {
    const { memories, unread } = await readContent(text);
    expect({ memories, unread }).toEqual({
      memories: [],
      unread: [" contains no memories"],
    });
  }
});

test("a text that is too long becomes several memories, and nothing of it is lost", async () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n}`);
  const { memories } = await readContent(words.join(" "));
  expect(memories.length).toBeGreaterThan(4);
  expect(memories.every(({ content }) => content.length <= 32_768)).toBe(true);
  expect(memories.flatMap(({ content }) => content.split(/\s+/))).toEqual(words);
  expect(memories[1]?.metadata).toEqual({ part: 2, parts: memories.length });
  expect(new Set(memories.map(({ id }) => id)).size).toBe(memories.length);
  const solid = await readContent("🦜".repeat(40_000));
  expect(solid.memories.map(({ content }) => content).join("")).toBe("🦜".repeat(40_000));
});

test("values that do not fit a memory's fields are reported", async () => {
  const entry = {
    memory: "Fits.",
    categories: ["a,b", "#c", "x".repeat(70), ...Array.from({ length: 40 }, (_, n) => `tag ${n}`)],
    agent_id: "y".repeat(200),
    metadata: { text: "z".repeat(5_000) },
    created_at: "the other day",
  };
  const { memories, notes } = await readContent(JSON.stringify([entry]));
  expect(memories[0]?.tags).toHaveLength(32);
  expect(memories[0]).toMatchObject({ content: "Fits.", metadata: {} });
  expect(notes).toEqual([
    "tags were cut to 64 characters",
    "only the first 32 tags were kept",
    "a date that can't be read was left out",
    "metadata of more than 4096 bytes was left out",
  ]);
});

test("what a file says of itself can't reach beyond a memory's fields", async () => {
  const text =
    '[{"memory":"a","__proto__":{"x":1},"metadata":{"__proto__":{"y":2},"constructor":3}}]';
  const [memory] = (await readContent(text)).memories;
  expect(memory?.content).toBe("a");
  expect(Object.keys(memory ?? {}).sort()).toEqual(["content", "id", "metadata"]);
});

test("a note takes no longer than its length, and no more memory, whatever is in it", async () => {
  const lists = Array.from(
    { length: 29 },
    (_, n) => `a${n + 1}: &a${n + 1}\n - *a${n}\n - *a${n}\n`,
  );
  const space = " ".repeat(200_000);
  const body = [
    `# a${space}b`,
    `- a${space}x`,
    `# ${"#".repeat(200_000)}x`,
    "- knows [[Ada]] well",
  ];
  const bomb = `a0: &a0 [x, x]\n${lists.join("")}tags: *a29\ntype: *a29\npermalink: *a29\n`;
  for (const fields of [bomb, "type: note\n"]) {
    const note = `---\n${fields}---\n${body.join("\n")}\n`;
    const { memories } = await readContent(note, "note.md");
    expect(memories.at(-1)?.content).toContain("knows Ada well");
  }
});
