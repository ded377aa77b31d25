import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { createSentences } from "../bench/sentences.ts";
import { createClient } from "../support/client.ts";
import { silentLog, testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { openData } from "../support/live-data.ts";
import { spawnServer } from "../support/server-process.ts";

/**
 * Many accounts on one server: `bun test/crash/many-accounts.ts --accounts 1000`. Fills them, then
 * searches and writes in one after the other, and deletes or changes a memory in each. Prints a line
 * of JSON for every twentieth of the way. Fails when the server's memory goes beyond 450 MiB however
 * many tables have been open, or what was deleted is in a file 60 seconds after the answer.
 */
const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "1000" },
    memories: { type: "string", default: "100" },
    rounds: { type: "string", default: "3" },
    seed: { type: "string", default: "1" },
  },
});
const [ACCOUNTS, MEMORIES, ROUNDS] = [values.accounts, values.memories, values.rounds].map(
  Number,
) as [number, number, number];
/** Accounts that are busy at the same time. */
const AT_ONCE = 8;
const MOST_MIB = 450;
const MOST_SECONDS = 60;
/** Seconds after which a deletion is not waited for. */
const GIVE_UP_SECONDS = 600;

const sentences = createSentences(Number(values.seed));
const dataDir = mkdtempSync(join(tmpdir(), "ctxd-accounts-"));

interface Account {
  key: string;
  /** The memory that is deleted or changed at last; its first word is in no other. */
  id: string;
}

/** What a memory means changes neither the server's memory nor its files: filled without the model. */
async function fill(): Promise<Account[]> {
  const real = createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog });
  await real.close();
  const embedder = { ...fakeEmbedder({ dimension: real.model.dimension }), model: real.model };
  await using data = await openData(dataDir, undefined, createEmbedders(embedder));
  const keys = createKeys({ db: data.db, clock: Date.now });
  const filled: Account[] = [];
  for (let n = 0; n < ACCOUNTS; n++) {
    const { id } = await data.accounts.add({ email: `a${n}@example.com`, password: null });
    const { key } = await keys.create(id, { name: "test", scopes: SCOPES, expiresAt: null });
    const inputs = Array.from({ length: MEMORIES - 1 }, sentences.memory);
    const forgotten = { content: `Forget${n}x ${sentences.query()}` };
    const [saved] = await data.memories.saveAll(wholeAccount(id), [forgotten, ...inputs]);
    filled.push({ key, id: saved?.id ?? "" });
  }
  return filled;
}

/** Numbers of the accounts whose word is in some file. */
function remaining(): Set<number> {
  const { stdout } = Bun.spawnSync(["grep", "-raohiE", "forget[0-9]+x", dataDir]);
  return new Set([...stdout.toString().matchAll(/\d+/g)].map(Number));
}

const accounts = await fill();
const server = spawnServer(dataDir, "real");
let peak = 0;

/** The server's memory in MiB; mapped files, which cost nothing, are in the first alone. */
function memory(): { rss_mib: number; rss_anon_mib: number } {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const mib = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  const rss_anon_mib = mib("RssAnon");
  peak = Math.max(peak, rss_anon_mib);
  return { rss_mib: mib("VmRSS"), rss_anon_mib };
}

/** Does a task for each account, a few at once. */
async function forEach(what: string, task: (account: Account, n: number) => Promise<unknown>) {
  const todo = accounts.entries();
  const started = performance.now();
  let failures = 0;
  const work = async () => {
    for (const [n, account] of todo) {
      await task(account, n).catch((error) => {
        failures++;
        process.stderr.write(`${error}\n`);
      });
      if ((n + 1) % Math.ceil(ACCOUNTS / 20) !== 0) continue;
      const seconds = Math.round((performance.now() - started) / 1000);
      console.log(JSON.stringify({ what, accounts: n + 1, seconds, ...memory(), failures }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

try {
  const origin = await server.origin();
  const sampling = setInterval(memory, 500);
  for (let round = 0; round < ROUNDS; round++) {
    await forEach("search and save", async ({ key }) => {
      const client = createClient(origin, key);
      const found = await client.search(sentences.query());
      if (found.length === 0) throw new Error("a search in a full account finds nothing");
      await client.save(sentences.memory());
    });
  }
  const answered = new Map<number, number>();
  let isOver = false;
  const forgetting = forEach("forget", async ({ key, id }, n) => {
    const client = createClient(origin, key);
    await (n % 2 ? client.remove(id) : client.update(id, { content: "another" }));
    answered.set(n, performance.now());
  }).finally(() => {
    isOver = true;
  });
  let slowest = 0;
  while (!isOver || answered.size > 0) {
    const begun = performance.now();
    const left = remaining();
    for (const [n, since] of answered) {
      const seconds = Math.round((begun - since) / 1000);
      if (seconds > GIVE_UP_SECONDS) throw new Error(`bytes are left after ${seconds} s`);
      if (left.has(n) || since > begun) continue;
      slowest = Math.max(slowest, seconds);
      answered.delete(n);
    }
    await Bun.sleep(1_000);
  }
  await forgetting;
  clearInterval(sampling);
  const result = { accounts: ACCOUNTS, peak_rss_anon_mib: peak, slowest_seconds: slowest };
  console.log(JSON.stringify({ what: "no byte is left", ...result }));
  if (peak > MOST_MIB || slowest > MOST_SECONDS) process.exitCode = 1;
} finally {
  await server.end();
  rmSync(dataDir, { recursive: true });
}
