import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/database.ts";
import { FLUSH_STEPS } from "../../src/memories/base/bases.ts";
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
const KINDS = {
  rewrite: FLUSH_STEPS.filter((step) => !/added|indexes/.test(step)),
  append: FLUSH_STEPS.filter((step) => !/base (written|kept)|indexes|former/.test(step)),
  index: FLUSH_STEPS.filter((step) => /indexes|recorded/.test(step)),
};

/** Names of bases that are there, and of those that checkpoints name. */
function basesOf(dataDir: string) {
  const db = new Sqlite(databasePath(dataDir), { readonly: true });
  const recorded = readCheckpoints(db).map(({ base }) => base);
  db.close();
  const there = readdirSync(join(dataDir, "memories")).map((name) => name.replace(/\.lance$/, ""));
  return { recorded, there };
}

for (const [kind, steps] of Object.entries(KINDS)) {
  test.each(steps)(
    `a process that ends in the ${kind} of a base, right after the step %s, has lost nothing`,
    async (step) => {
      const random = createRandom(step.length);
      const dataDir = temporaryFolder();
      const { key } = await addAccountTo(dataDir);
      const writer = createWriter("agent", random);
      {
        await using server = spawnServer(dataDir, "impatient", {
          STOP_AT: step,
          STOP_KIND: steps[0] ?? "",
        });
        const origin = await server.origin();
        // Enough that the table is large, where flushes append.
        const memories = Array.from({ length: 60 }, (_, n) => ({ content: `of the start ${n}` }));
        await createClient(origin, key)
          .saveAll(memories)
          .catch(() => {});
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
