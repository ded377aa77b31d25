import { expect, test } from "bun:test";
import { readInWorker } from "../../src/import/read-in-worker.ts";
import { readReading } from "../support/import.ts";
import { outcomeOf } from "../support/outcome.ts";
import { zip } from "../support/zip.ts";

const file = (name: string, content: string | Buffer) =>
  new File([new Uint8Array(Buffer.from(content as string))], name);

test("files that are sent are read in a thread of their own, with the same outcome", async () => {
  const files = [
    file(
      "notes.zip",
      zip([
        { name: "bees.md", content: "Bees hum." },
        { name: "a.exe", content: "MZ" },
      ]),
    ),
    file("table.csv", "text,tags\nTea is hot.,food\n"),
    file("program", "\x7fELF\0"),
  ];
  const read = await readReading(readInWorker(files, { project: "garden" }));
  expect(read.memories.map(({ content, project }) => [content, project])).toEqual([
    ["bees: Bees hum.", "garden"],
    ["Tea is hot.", "garden"],
  ]);
  expect(read.unread).toEqual(["program is binary, not text"]);
  expect(read.leftOut).toEqual(["files of other kinds (.exe): 1"]);
});

test.each([
  ["too long", { silence: 0, memory: 1 << 30 }],
  ["too much memory", { silence: 60_000, memory: Number.NEGATIVE_INFINITY }],
])("what takes %s to read is given up", async (what, limits) => {
  const list = `["${"x".repeat(20_000_000)}"]`;
  const reading = readInWorker([file("list.json", list)], { project: null, limits });
  expect(await outcomeOf(readReading(reading))).toThrow(`takes ${what} to read`);
});

test("an unreadable upload is reported like a file on disk", async () => {
  const reading = readInWorker([file("a.json", '{"openapi": "3.1.0"}')], { project: null });
  expect(await outcomeOf(readReading(reading))).toThrow("This file is JSON in an unknown format");
});
