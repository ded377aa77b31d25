import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/database.ts";
import { BASE_STEPS } from "../../src/memories/base/bases.ts";
import { FLUSH_STEPS } from "../../src/memories/flush.ts";
import { readCheckpoints } from "../../src/memories/log/recorded.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { createWriter } from "./writer.ts";

/**
 * The process ends right after a step of a flush, once for each step and each kind of flush. After
 * the next start every answered write is there and no other, and the folder of bases has no other
 * than those that are recorded.
 */
const KINDS = { rewrite: "rows-rewritten", append: "rows-added" };

/** Names of bases that are there, and of those that checkpoints name. */
function basesOf(dataDir: string) {
  const db = new Sqlite(databasePath(dataDir), { readonly: true });
  const recorded = readCheckpoints(db).map(({ base }) => base);
  db.close();
  const there = readdirSync(join(dataDir, "memories")).map((name) => name.replace(/\.lance$/, ""));
  return { recorded, there };
}

for (const [kind, first] of Object.entries(KINDS)) {
  test.each([...new Set([...BASE_STEPS, ...FLUSH_STEPS])].filter((step) => isOf(kind, step)))(
    `a process that ends in an ${kind} right after the step %s has lost nothing`,
    async (step) => {
      const random = createRandom(step.length);
      const dataDir = temporaryFolder();
      const { key } = await addAccountTo(dataDir);
      const writer = createWriter("agent", random);
      {
        await using server = spawnServer(dataDir, "impatient", { STOP_AT: step, STOP_KIND: first });
        const origin = await server.origin();
        // Enough that the table is large, where flushes append.
        const memories = Array.from({ length: 60 }, (_, n) => ({ content: `of the start ${n}` }));
        await createClient(origin, key).saveAll(memories).catch(() => {});
        const writing = writer.write(origin, key, () => !server.isRunning());
        await server.exited;
        await writing;
      }
      await using server = spawnServer(dataDir, "impatient");
      const client = createClient(await server.origin(), key);
      await writer.check(client);
      expect(await server.end()).toBe(0);
      const { recorded, there } = basesOf(dataDir);
      expect(there).toEqual(recorded);
    },
    60_000,
  );
}

/** Whether a kind of flush has a step. */
function isOf(kind: string, step: string): boolean {
  const other = kind === "append" ? KINDS.rewrite : KINDS.append;
  return step !== other;
}
