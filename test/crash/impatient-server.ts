import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAccess, createApp } from "../../src/app.ts";
import { lockDataFolder } from "../../src/db/data-lock.ts";
import { databasePath, openDatabase } from "../../src/db/database.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { createEmbedders } from "../../src/embedding/embedders.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { createLog } from "../../src/log.ts";
import { createGenerations } from "../../src/memories/generations.ts";
import { createIdempotency } from "../../src/memories/idempotency.ts";
import { createJournal } from "../../src/memories/journal.ts";
import { DUE } from "../../src/memories/keeper.ts";
import { createMemories } from "../../src/memories/memories.ts";
import { watchRemovedAccounts } from "../../src/memories/removed-accounts.ts";
import { openStore } from "../../src/memories/store.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { createSecurityLog } from "../../src/security-log/security-log.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

/**
 * What `ctxd serve` does, for a data folder given as argument, with two differences: the model is
 * a fake one, so that it starts at once, and upkeep is due after moments instead of seconds, so
 * that something is under way whenever the process is killed. Before each call of LanceDB that
 * upkeep makes, its name is printed on standard output. `FAKE_MODEL` names the fake one; with a name,
 * it takes its time.
 */
const IMPATIENT = {
  ...DUE,
  checkpointAfter: 300,
  commits: 6,
  idle: 300,
  restFactor: 0,
  purgeAfter: 600,
  retryAfter: 300,
  contended: 1_000,
  largeRows: 30,
  recentRows: 50,
};

function slow(embedder: Embedder): Embedder {
  return {
    ...embedder,
    embedContent: (text) => Bun.sleep(3).then(() => embedder.embedContent(text)),
  };
}

const [dataDir = ""] = process.argv.slice(2);
const clock = Date.now;
const log = createLog({ logLevel: "debug", logFormat: "text" });
const lock = lockDataFolder(dataDir, "test");
const db = openDatabase(databasePath(dataDir));
const folder = join(dataDir, "memories");
mkdirSync(folder, { recursive: true });
const { FAKE_MODEL } = process.env;
const embedder = FAKE_MODEL === undefined ? fakeEmbedder() : slow(fakeEmbedder({ id: FAKE_MODEL }));
const access = createAccess({ db, clock, publicUrl: "http://localhost" });
const { accounts } = access;
const lancedb = await loadLanceDb(testCacheDir);
const announced = {
  ...lancedb,
  connect: async (...args: unknown[]) => {
    const connection = await Reflect.apply(lancedb.connect, lancedb, args);
    const create = connection.createEmptyTable.bind(connection);
    return Object.assign(connection, {
      createEmptyTable: async (...args: Parameters<typeof create>) => {
        const table = await create(...args);
        const optimize = table.optimize.bind(table);
        const createIndex = table.createIndex.bind(table);
        const say = (name: string) => process.stdout.write(`${name}\n`);
        return Object.assign(table, {
          optimize(...args: Parameters<typeof optimize>) {
            say(args.length > 0 ? "prune" : "optimize");
            return optimize(...args);
          },
          createIndex(...args: Parameters<typeof createIndex>) {
            say("index");
            return createIndex(...args);
          },
        });
      },
    });
  },
};
const journal = createJournal({ db });
const store = await openStore({
  lancedb: announced,
  folder,
  embedders: createEmbedders(embedder, (model) => fakeEmbedder(model)),
  generations: createGenerations({ db }),
  journal: {
    ...journal,
    recordCheckpoint(...args) {
      process.stdout.write("checkpoint\n");
      return journal.recordCheckpoint(...args);
    },
  },
  log,
  due: IMPATIENT,
});
const memories = createMemories({
  store,
  idempotency: createIdempotency({ db, clock }),
  clock,
});
const unwatch = watchRemovedAccounts({ store, accounts, log });
const securityLog = createSecurityLog({ db, clock, log });
const untell = securityLog.tellCommands();
const app = createApp({
  config: {
    publicUrl: "http://localhost",
    tls: null,
    trustProxy: false,
    allowHttp: false,
    rateLimit: false,
    passwords: true,
    registration: "first",
    providers: { github: null, google: null, oidc: null },
    securityLogDays: 90,
    securityContact: null,
  },
  access,
  securityLog,
  memories,
  keys: createKeys({ db, clock }),
  log,
  checks: { database: () => "ok" },
}).listen({ hostname: "127.0.0.1", port: 0, maxRequestBodySize: Number.MAX_SAFE_INTEGER });
lock.announce(`http://localhost:${app.server?.port}`);

process.on("SIGTERM", async () => {
  await app.stop(true);
  unwatch();
  untell();
  await store.close();
  securityLog.close();
  db.close();
  lock.release();
  process.exit(0);
});
