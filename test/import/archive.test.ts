import { expect, test } from "bun:test";
import { readContent } from "../support/import.ts";
import { outcomeOf } from "../support/outcome.ts";
import { zip } from "../support/zip.ts";

const NOTE = { name: "note.md", content: "Bees hum." };
const MEGABYTE = " ".repeat(1 << 20);

test("the files of an archive are read like those of a folder", async () => {
  const { memories, leftOut, unread } = await readContent(
    zip([
      NOTE,
      { name: "list.json", content: '["Tea is hot."]' },
      { name: "folder/table.csv", content: "text,tags\nMaps are flat.,map\n" },
      { name: "program.exe", content: "MZ" },
      { name: "__MACOSX/._note.md", content: "x" },
      { name: ".obsidian/app.json", content: "{}" },
      { name: "broken.json", content: '{"openapi": "3.1.0"}' },
      { name: "inner.zip", content: zip([NOTE]) },
    ]),
  );
  expect(memories.map(({ content }) => content)).toEqual([
    "Maps are flat.",
    "Tea is hot.",
    "note: Bees hum.",
  ]);
  expect(leftOut).toEqual(["files of other kinds (.exe): 1"]);
  expect(unread).toEqual([
    "broken.json is JSON in an unknown format: ctxd import --help lists what can be imported",
    "inner.zip is an archive in an archive",
  ]);
});

test("an archive that unpacks to too many bytes yields the files before that, in little memory", async () => {
  const list = `[${`"${MEGABYTE}",`.repeat(60)}"end"]`;
  const { memories, unread } = await readContent(
    zip([
      { ...NOTE, name: "a.md" },
      { name: "b.json", content: list },
    ]),
  );
  expect(memories.map(({ content }) => content)).toEqual(["a: Bees hum."]);
  expect(unread).toEqual(["b.json unpacks to too many bytes"]);
});

test("many files with the same packed bytes are limited by their total size", async () => {
  const text = `Bees hum.\n\n${MEGABYTE}`;
  const { memories, unread } = await readContent(
    zip([{ name: "a.md", content: text }], { repeat: 50 }),
  );
  expect(memories.length).toBeLessThan(5);
  expect(unread.at(-1)).toBe("a.md unpacks to too many bytes");
});

test("a file with a false size, or an encrypted one, is reported, and the others are read", async () => {
  const { memories, unread, problems } = await readContent(
    zip([
      { name: "a.md", content: `Honest.\n\n${MEGABYTE}`, saysSize: 20 },
      { name: "b.md", content: "Secret.", flags: 1 },
      NOTE,
    ]),
  );
  expect(memories.map(({ content }) => content)).toEqual(["note: Bees hum."]);
  expect([...unread, ...problems]).toEqual(["a.md is damaged", "b.md is encrypted"]);
});

test("an archive that is cut off is refused", async () => {
  const whole = zip([NOTE, { name: "list.json", content: '["Tea is hot."]' }]);
  for (const end of [10, 60, whole.length - 30, whole.length - 1]) {
    expect(await outcomeOf(readContent(whole.subarray(0, end)))).toThrow("is a damaged archive");
  }
});

test("names that lead out of the archive are refused", async () => {
  const bytes = zip([{ ...NOTE, name: "../../note.md" }]);
  expect(await outcomeOf(readContent(bytes))).toThrow("is a damaged archive");
});
