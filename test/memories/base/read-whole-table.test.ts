import { expect, test } from "bun:test";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readWholeTable } from "../../../src/memories/base/connection.ts";
import { loadLanceDb } from "../../../src/native/lancedb.ts";
import { changesOf, model, storedMemories, storedMemory, testBases } from "../../support/bases.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { outcomeOf } from "../../support/outcome.ts";

test("reading a whole base tells what it has, and fails where a file is damaged", async () => {
  const bases = await testBases();
  const memories = [await storedMemory(50, { content: "two\n\npassages" })];
  memories.push(...(await storedMemories(0, 9)));
  const written = await bases.rewrite("acc", null, changesOf(memories), { upTo: 1, model });
  const base = await bases.open(written);
  const { version, files } = await bases.index(base, true);
  const read = async () =>
    await readWholeTable(await loadLanceDb(testCacheDir), bases.folder, written.base, version);
  const facts = { rows: 11, memories: 10, fragments: 1, newest: 50, unindexed: 0, model: model.id };
  expect(await read()).toEqual(facts);
  // A flush may go on meanwhile.
  await bases.append(base, await storedMemories(60, 61), 2);
  expect(await read()).toEqual(facts);
  const isOf = (folder: string) => (file: string) => file.startsWith(folder);
  for (const file of [files.find(isOf("_indices")), files.find(isOf("data"))]) {
    const path = join(bases.folder, `${written.base}.lance`, file ?? "");
    const whole = readFileSync(path);
    truncateSync(path, 10);
    expect(await outcomeOf(read())).toThrow();
    writeFileSync(path, whole);
  }
  expect(await read()).toEqual(facts);
});
