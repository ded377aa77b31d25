import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFiles } from "../../src/memories/table-files.ts";
import { temporaryFolder } from "../support/database.ts";
import { HASTY, openData } from "../support/live-data.ts";

const ACCOUNT = "acc_0123456789abcdef";

test("while writes come to a large table only the new rows are merged, until they are many", async () => {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, "memories", `${ACCOUNT}.lance`);
  const merging = { idle: 60_000, largeRows: 200, recentRows: 40, unpruned: 2 };
  // A table that is opened anew is merged as a whole first.
  const renewing = { renewAfter: 1_000, renewAfterAtRest: 1_000 };
  await using data = await openData(dataDir, { ...HASTY, ...merging, ...renewing });
  const { memories } = data;
  const write = async (count: number) => {
    for (let n = 0; n < count; n++) await memories.create(ACCOUNT, [{ content: `later ${n}` }]);
  };
  const untilMerged = async (most: number) => {
    while ((await data.tableStats(ACCOUNT)).fragments > most) await Bun.sleep(10);
  };
  /** The file with the rows that were there first. */
  const largest = async () => {
    const files = (await listFiles(folder)).filter((file) => file.startsWith("data"));
    // One that is gone meanwhile has no size.
    const sizeOf = (file: string) => Bun.file(join(folder, file)).size;
    return files.sort((a, b) => sizeOf(b) - sizeOf(a))[0];
  };
  const first = Array.from({ length: 250 }, (_, n) => ({ content: `memory number ${n}` }));
  const [gone, changed] = await memories.create(ACCOUNT, first);
  await write(4);
  await untilMerged(2);
  let before: string | undefined;
  while (before !== (await largest())) {
    before = await largest();
    await Bun.sleep(500);
  }
  for (let round = 0; round < 6; round++) {
    await write(4);
    await untilMerged(4);
  }
  expect(await largest()).toBe(before);
  // What was there first is changed and removed as ever.
  await memories.update(ACCOUNT, changed?.id ?? "", { content: "changed" });
  await memories.remove(ACCOUNT, gone?.id ?? "");
  await write(30);
  while ((await largest()) === before) await Bun.sleep(10);
  expect((await memories.stats(ACCOUNT)).memories).toBe(250 + 4 + 24 + 30 - 1);
  expect((await memories.get(ACCOUNT, changed?.id ?? "")).content).toBe("changed");
  const request = {
    query: "later 29",
    limit: 100,
    filter: {},
    minScore: 0,
    mode: "keyword",
  } as const;
  const { memories: found } = await memories.search(ACCOUNT, request);
  expect(found.filter(({ content }) => content.startsWith("later"))).toHaveLength(58);
}, 60_000);
