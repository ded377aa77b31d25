import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { readCheckpoints } from "../../src/memories/log/records.ts";
import { createClient } from "../support/client.ts";
import { FLUSH_STEPS } from "../support/flush-steps.ts";
import { folderOfTest } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, type ServerProcess, spawnServer } from "../support/server-process.ts";
import { serveImpatiently } from "./impatient-server.ts";
import { createWriter, readAll } from "./writer.ts";

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

/** Writes until the server ends, and checks what is there when another one runs. */
type Client = ReturnType<typeof createClient>;
interface Load {
  write(server: ServerProcess, key: string): Promise<void>;
  check(client: Client): Promise<void>;
}

/** All kinds of writes. */
function mixedWrites(): Load {
  const writer = createWriter("agent", createRandom(1));
  return {
    write: async (server, key) =>
      await writer.write(await server.origin(), key, () => !server.isRunning()),
    check: writer.check,
  };
}

/** Nothing but new memories, so that nothing has to leave the files; with time to rest. */
function saves(): Load {
  const saved: string[] = [];
  return {
    async write(server, key) {
      const client = createClient(await server.origin(), key);
      for (let round = 0; server.isRunning(); round++) {
        // The first batch makes a base to which the second one is appended.
        const length = round === 0 ? 3 * BATCH : BATCH;
        const batch = Array.from({ length }, (_, n) => ({ content: `note ${n} of ${round}` }));
        const made = await client.saveAll(batch).catch(() => []);
        saved.push(...made.map(({ id }) => id));
        await Promise.race([server.exited, Bun.sleep(REST)]);
      }
    },
    async check(client) {
      const there = await readAll(client);
      for (const id of saved) expect(there.has(id)).toBe(true);
      // A batch that was not answered is there as a whole, or not at all.
      expect(there.size % BATCH).toBe(0);
    },
  };
}

/** Milliseconds after which an impatient server indexes a large base. */
const REST = 800;
/** As many changes as an impatient server flushes at once. */
const BATCH = 40;

// Each has processes and a folder of its own, and mostly waits.
for (const [kind, steps] of Object.entries(KINDS)) {
  test.concurrent.each(steps)(
    `a process that ends in the ${kind} of a base, right after the step %s, has lost nothing`,
    async (step) => {
      using folder = folderOfTest();
      const dataDir = folder.path;
      const { key } = await addAccountTo(dataDir);
      const load = kind === "rewrite" ? mixedWrites() : saves();
      {
        const settings = { STOP_AT: step, STOP_KIND: steps[0] ?? "" };
        await using server = spawnServer(dataDir, "impatient", settings);
        await load.write(server, key);
      }
      {
        await using server = await serveImpatiently(dataDir);
        await load.check(createClient(server.origin, key));
      }
      const { recorded, there } = basesOf(dataDir);
      expect(there).toEqual(recorded);
    },
  );
}
