import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../support/client.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";

/**
 * Many accounts on one server: `bun test/crash/many-accounts.ts --accounts 1000`. Fills them, then
 * searches and writes in one after the other, and deletes a memory in each. Prints a line of JSON for
 * every twentieth of the way: memory must stay bounded however many tables have been open, and what
 * was deleted leaves the files within 60 seconds.
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

const random = createRandom(Number(values.seed));
const WORDS = Array.from({ length: 600 }, random.word);
const sentence = () =>
  Array.from({ length: 4 + random.below(8) }, () => random.pick(WORDS)).join(" ");

const dataDir = mkdtempSync(join(tmpdir(), "ctxd-accounts-"));
const keys: string[] = [];
for (let n = 0; n < ACCOUNTS; n++) {
  keys.push((await addAccountTo(dataDir, `account-${n}@example.com`)).key);
}
const server = spawnServer(dataDir, "real");

/** Does a task for each account, a few at once. */
async function forEach(what: string, task: (key: string) => Promise<void>): Promise<void> {
  const todo = keys.entries();
  const started = performance.now();
  let failures = 0;
  const work = async () => {
    for (const [n, key] of todo) {
      await task(key).catch((error) => {
        failures++;
        process.stderr.write(`${error}\n`);
      });
      if ((n + 1) % Math.ceil(ACCOUNTS / 20) !== 0) continue;
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      const mib = (name: string) =>
        Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
      const seconds = Math.round((performance.now() - started) / 1000);
      const [rss_mib, rss_anon_mib] = [mib("VmRSS"), mib("RssAnon")];
      console.log(
        JSON.stringify({ what, accounts: n + 1, seconds, rss_mib, rss_anon_mib, failures }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

try {
  const origin = await server.origin();
  await forEach("fill", async (key) => {
    const inputs = Array.from({ length: MEMORIES }, () => ({ content: sentence() }));
    await createClient(origin, key).saveAll(inputs);
  });
  for (let round = 0; round < ROUNDS; round++) {
    await forEach("search and save", async (key) => {
      const client = createClient(origin, key);
      const found = await client.search(sentence());
      if (found.length === 0) throw new Error("a search in a full account finds nothing");
      await client.save({ content: sentence() });
    });
  }
  const marker = "ForgetThisWord";
  const ids = new Map<string, string>();
  await forEach("save what is forgotten", async (key) => {
    const { id } = await createClient(origin, key).save({ content: `${marker} ${sentence()}` });
    ids.set(key, id);
  });
  await forEach("forget", (key) => createClient(origin, key).remove(ids.get(key) ?? ""));
  const answered = performance.now();
  while (Bun.spawnSync(["grep", "-rqi", marker, dataDir]).exitCode === 0) await Bun.sleep(500);
  const seconds = Math.round((performance.now() - answered) / 1000);
  console.log(JSON.stringify({ what: "no byte is left", accounts: ACCOUNTS, seconds }));
} finally {
  await server.end();
  rmSync(dataDir, { recursive: true });
}
