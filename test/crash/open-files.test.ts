import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { wholeAccount } from "../../src/keys/reach.ts";
import { temporaryFolder } from "../support/database.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { addAccountTo } from "../support/server-process.ts";

/** Files below a folder that this process holds open although they are removed. */
function removedAndOpen(folder: string): number {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return links.filter((link) => link.startsWith(folder) && link.endsWith("(deleted)")).length;
}

test.skipIf(process.platform !== "linux")(
  "bases that a flush has replaced are not held open for ever, and nothing is lost meanwhile",
  async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "memories"));
    const { accountId } = await addAccountTo(dataDir);
    await using data = await openData(dataDir, HASTY);
    const [memory] = await data.memories.saveAll(wholeAccount(accountId), [newMemory("start 0")]);
    const id = memory?.id ?? "";
    const request = { limit: 5, filter: {}, minScore: 0, mode: "keyword" } as const;
    for (let round = 1; round <= 160; round++) {
      await data.memories.update(wholeAccount(accountId), id, { content: `start ${round}` });
      await data.memories.saveAll(wholeAccount(accountId), [newMemory(`another ${round}`)]);
      const { memories: found } = await data.memories.search(wholeAccount(accountId), {
        query: `start ${round}`,
        ...request,
      });
      expect(found.map(({ content }) => content)).toContain(`start ${round}`);
      await Bun.sleep(40);
    }
    // What is no longer used is closed when it is collected.
    Bun.gc(true);
    await Bun.sleep(100);
    expect(removedAndOpen(dataDir)).toBeLessThan(60);
    const page = await data.memories.list(wholeAccount(accountId), { filter: {}, limit: 100 });
    expect(page.memories).toHaveLength(100);
  },
);

function newMemory(content: string) {
  return { content };
}
