import { Database as Sqlite } from "bun:sqlite";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { databasePath } from "../../src/db/data-lock.ts";
import { readCheckpoints } from "../../src/memories/log/records.ts";
import { createClient } from "../support/client.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";

/**
 * Mixed load on a server process for minutes on end: `bun test/crash/soak.ts --minutes 30`. Prints a
 * line of JSON every ten seconds: what must stay flat is memory, open files, fragments and the
 * time of a search, and disk in proportion to the memories.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    accounts: { type: "string", default: "3" },
    memories: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const MINUTES = Number(values.minutes);
/** From here on as many are deleted as are saved, for an even load. */
const PER_ACCOUNT = Number(values.memories);
const INTERVAL = 10_000;
/** Milliseconds between two writes and between two searches of an account. */
const PACE = { write: 200, search: 150 };

const random = createRandom(Number(values.seed));
const WORDS = Array.from({ length: 600 }, random.word);
const sentence = () =>
  Array.from({ length: 6 + random.below(12) }, () => random.pick(WORDS)).join(" ");

const dataDir = mkdtempSync(join(tmpdir(), "ctxd-soak-"));
const accounts: { accountId: string; key: string }[] = [];
for (let n = 0; n < Number(values.accounts); n++) {
  accounts.push(await addAccountTo(dataDir, `account-${n}@example.com`));
}
const server = spawnServer(dataDir, "real");
const stopping = new AbortController();
process.on("SIGINT", () => stopping.abort());
let searchTimes: number[] = [];
let [writes, failures, memories] = [0, 0, 0];

async function write(origin: string, key: string): Promise<void> {
  const client = createClient(origin, key);
  const ids: string[] = [];
  const save = async (count: number) => {
    const inputs = Array.from({ length: count }, () => ({
      content: sentence(),
      tags: [random.pick(WORDS) ?? ""],
      agent_id: `agent${random.below(5)}`,
    }));
    ids.push(...(await client.saveAll(inputs)).map(({ id }) => id));
    memories += count;
  };
  while (ids.length < PER_ACCOUNT) await save(Math.min(100, PER_ACCOUNT - ids.length));
  const steps = [
    () => save(1),
    () => client.update(random.pick(ids) ?? "", { content: sentence() }),
    () => client.update(random.pick(ids) ?? "", { importance: random.next() }),
    async () => {
      const [id = ""] = ids.splice(random.below(ids.length), 1);
      await client.remove(id);
      memories--;
    },
  ];
  while (!stopping.signal.aborted) {
    await (random.pick(steps)?.() ?? Promise.resolve()).catch(fail);
    writes++;
    await Bun.sleep(PACE.write);
  }
}

async function search(origin: string, key: string): Promise<void> {
  const client = createClient(origin, key);
  while (!stopping.signal.aborted) {
    const started = performance.now();
    await client.search(sentence()).catch(fail);
    searchTimes.push(performance.now() - started);
    await Bun.sleep(PACE.search);
  }
}

function fail(error: unknown) {
  failures++;
  process.stderr.write(`${error}\n`);
}

function percentile(sorted: readonly number[], share: number) {
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
}

function diskBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => {
      const file = Bun.file(join(entry.parentPath, entry.name));
      return sum + file.size;
    }, 0);
}

/** Data files of each base: a flush adds one, or makes one of all again. */
function fragments(): number[] {
  const folder = join(dataDir, "memories");
  return readdirSync(folder).map((base) => readdirSync(join(folder, base, "data")).length);
}

/** LanceDB's numbers of the recorded versions. */
function versions(): number[] {
  const db = new Sqlite(databasePath(dataDir), { readonly: true });
  try {
    return readCheckpoints(db).map(({ version }) => version);
  } finally {
    db.close();
  }
}

/** What is asked for while upkeep removes it. */
function orNull<Result>(ask: () => Result): Result | null {
  try {
    return ask();
  } catch {
    return null;
  }
}

async function sample(started: number) {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const times = searchTimes.sort((a, b) => a - b);
  searchTimes = [];
  console.log(
    JSON.stringify({
      seconds: Math.round((performance.now() - started) / 1000),
      rss_anon_mib: Math.round(Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) / 1024),
      disk_mib: Math.round(diskBytes(dataDir) / 2 ** 20),
      files: readdirSync(dataDir, { recursive: true }).length,
      open_files: readdirSync(`/proc/${server.pid}/fd`).length,
      fragments: orNull(fragments),
      versions: orNull(versions),
      memories,
      writes,
      failures,
      searches: times.length,
      search_ms: { p50: percentile(times, 0.5), p95: percentile(times, 0.95) },
    }),
  );
}

try {
  const origin = await server.origin();
  const work = accounts.flatMap(({ key }) => [write(origin, key), search(origin, key)]);
  const started = performance.now();
  while (!stopping.signal.aborted && performance.now() - started < MINUTES * 60_000) {
    await Bun.sleep(INTERVAL);
    await sample(started).catch(fail);
  }
  stopping.abort();
  await Promise.all(work);
  process.exitCode = (await server.end()) === 0 && failures === 0 ? 0 : 1;
  const troubles = server.errors().match(/\w+_failed.*/g) ?? [];
  console.log(JSON.stringify({ troubles: troubles.length, first: troubles.slice(0, 3) }));
} finally {
  await server.kill();
  rmSync(dataDir, { recursive: true, force: true });
}
