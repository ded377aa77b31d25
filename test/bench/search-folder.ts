import { wholeAccount } from "../../src/keys/reach.ts";
import { releaseMemoryWhenIdle } from "../../src/server/process-memory.ts";
import { anonymousMemory, MIB } from "./footprint.ts";
import { median, percentile, timed } from "./numbers.ts";
import { openPrepared } from "./prepared-data.ts";
import { createSentences } from "./sentences.ts";
import { metricOf } from "./server-metrics.ts";
import { untilInMemory } from "./start.ts";

/**
 * Measures searches in a prepared data folder, in this process and without the time of an engine:
 * `bun test/bench/search-folder.ts FOLDER MEMORIES`. Prints them as JSON, in milliseconds, and what
 * memory the process takes (`RssAnon`, MiB).
 */
const [folder = "", count] = Bun.argv.slice(2);
const memories = Number(count);
const WARM_UP = 20;
const SEARCHES = 200;
const IDLE = 12_000;

releaseMemoryWhenIdle();
const data = await openPrepared(folder);
const sentences = createSentences(2);
const rssAnon = async () => ((await anonymousMemory(process.pid)) ?? Number.NaN) / MIB;

/** Milliseconds of a search whose query has its vector already. */
async function search(): Promise<number> {
  const query = sentences.query();
  await data.engine.embedQuery(query);
  const request = { query, limit: 10, filter: {}, minScore: 0, mode: "hybrid" } as const;
  return await timed(() => data.memories.search(wholeAccount(data.accountId), request));
}

const first = await search();
const inMemory = await untilInMemory(data.metrics, memories);
for (let turn = 0; turn < WARM_UP; turn++) await search();
const times: number[] = [];
for (let turn = 0; turn < SEARCHES; turn++) times.push(await search());
const searching = await rssAnon();
await Bun.sleep(IDLE);
console.log(
  JSON.stringify({
    p50: median(times),
    p95: percentile(times, 0.95),
    first,
    inMemory,
    viewed: metricOf(await data.metrics(), "ctxd_view_memories"),
    searching,
    idle: await rssAnon(),
  }),
);
await data.close();
process.exit(0);
