import { afterEach, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContentEmbedding, Embedder } from "../../src/embedding/embedder.ts";
import { spawnWorker } from "../../src/embedding/worker-connection.ts";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { AppError } from "../../src/errors.ts";
import { createMetrics } from "../../src/metrics.ts";
import { temporaryFolder } from "../support/database.ts";
import { sharedEmbedder, silentLog, testCacheDir } from "../support/embedder.ts";
import { readMetrics } from "../support/metrics.ts";
import { outcomeOf } from "../support/outcome.ts";
import { until } from "../support/until.ts";

const open: Embedder[] = [];
afterEach(async () => {
  for (const embedder of open.splice(0)) await embedder.close();
});

/** An embedder that no other test uses, and its workers. */
function start(cacheDir = testCacheDir): { embedder: Embedder; workers: Worker[] } {
  const workers: Worker[] = [];
  const spawn = () => {
    const worker = spawnWorker();
    workers.push(worker);
    return worker;
  };
  const embedder = createWorkerEmbedder({ cacheDir, log: silentLog, spawn });
  open.push(embedder);
  return { embedder, workers };
}

/** The result of each call: its value, or the code of its error. */
async function outcomes(calls: Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((call) =>
    call.status === "fulfilled"
      ? call.value
      : call.reason instanceof AppError
        ? call.reason.code
        : call.reason,
  );
}

/** Embeds a content as soon as a worker runs again. */
function untilItWorks(embedder: Embedder): Promise<ContentEmbedding> {
  return until("a text is embedded", () => embedder.embedContent("is it back").catch(() => null));
}

const PAGE = "Nobody had anything to add to the report. ".repeat(60);

describe("order", () => {
  test("a query is embedded before waiting contents", async () => {
    const embedder = sharedEmbedder();
    await embedder.ready();
    const finished: string[] = [];
    const contents = [1, 2, 3, 4, 5].map((n) =>
      embedder.embedContent(`${n} ${PAGE}`).then(() => finished.push("content")),
    );
    // Gives the worker time to begin with the first.
    await Bun.sleep(30);
    const query = embedder
      .embedQuery(`who is first ${Math.random()}`)
      .then(() => finished.push("query"));
    await Promise.all([...contents, query]);
    expect(finished[0]).toBe("query");
  });

  test("a sentence does not wait behind a batch of long contents", async () => {
    const embedder = sharedEmbedder();
    const finished: string[] = [];
    const long = [1, 2, 3, 4].map((n) =>
      embedder.embedContent(`${n} ${PAGE.repeat(2)}`).then(() => finished.push("long")),
    );
    const short = embedder.embedContent("Short.").then(() => finished.push("short"));
    await Promise.all([...long, short]);
    expect(finished[0]).toBe("short");
  });
});

describe("the cache of queries", () => {
  test("equal queries, concurrent and later, are embedded once", async () => {
    const { embedder, workers } = start();
    await embedder.ready();
    const [worker] = workers;
    let sent = 0;
    const send = worker?.postMessage.bind(worker);
    Object.assign(worker ?? {}, {
      postMessage: (message: unknown) => {
        sent++;
        send?.(message);
      },
    });
    const [first, second] = await Promise.all([
      embedder.embedQuery("what do I like"),
      embedder.embedQuery("what do I like"),
    ]);
    expect(second).toBe(first);
    expect(await embedder.embedQuery("what do I like")).toBe(first);
    expect(sent).toBe(1);
  });
});

describe("a worker that ends unexpectedly", () => {
  test("waiting calls are rejected with a time to retry, later calls succeed", async () => {
    const { embedder, workers } = start();
    await embedder.ready();
    const before = await embedder.embedContent("is it back");
    const calls = [
      embedder.embedContent(PAGE.repeat(5)),
      embedder.embedContent(PAGE),
      embedder.embedQuery("a question in flight"),
    ];
    // Not terminate(), which aborts the process during a run.
    workers[0]?.postMessage({ type: "close" });
    expect(await outcomes(calls)).toEqual(["unavailable", "unavailable", "unavailable"]);
    expect(await untilItWorks(embedder)).toEqual(before);
    await embedder.ready();
    expect(workers.length).toBe(2);
  });

  test("a worker that throws is replaced each time", async () => {
    const { embedder, workers } = start();
    for (const life of [1, 2, 3]) {
      await untilItWorks(embedder);
      workers.at(-1)?.dispatchEvent(new ErrorEvent("error", { message: "broken" }));
      expect(await outcomes([embedder.embedContent("lost")])).toEqual(["unavailable"]);
      expect(workers.length).toBe(life);
    }
    await untilItWorks(embedder);
  });

  test("ready() rejects when the model can't be loaded, and calls do not hang", async () => {
    const file = join(temporaryFolder(), "file");
    await writeFile(file, "");
    const { embedder } = start(file);
    const calls = outcomes([embedder.embedQuery("a"), embedder.embedContent("b")]);
    expect(await outcomeOf(embedder.ready())).toThrow(file);
    expect(await calls).toEqual(["unavailable", "unavailable"]);
  });

  test("close() rejects waiting and later calls", async () => {
    const { embedder, workers } = start();
    await embedder.ready();
    const waiting = outcomes([embedder.embedContent(PAGE.repeat(5))]);
    // In the middle of a run: ending the thread there once aborted the process.
    await Bun.sleep(50);
    await embedder.close();
    expect(await waiting).toEqual(["unavailable"]);
    expect(await outcomes([embedder.embedQuery("too late")])).toEqual(["unavailable"]);
    // Proves that no other worker starts in this time.
    await Bun.sleep(150);
    expect(workers.length).toBe(1);
  });
});

describe("admission", () => {
  test("a batch of the longest contents may wait, two of one key may not", async () => {
    const { embedder } = start();
    await embedder.ready();
    const content = "x".repeat(32_760);
    const batch = () =>
      Array.from({ length: 256 }, (_, index) =>
        embedder.embedContent(content + index).catch(String),
      );
    const accepted = batch();
    expect(await outcomes([embedder.embedContent(content)])).toEqual(["unavailable"]);
    const another = { accountId: "another" };
    expect((await embedder.embedContent("short", another)).vectors).toHaveLength(1);
    // Queries have their own limit.
    expect((await embedder.embedQuery("is there room")).vector).toHaveLength(384);
    await embedder.close();
    await Promise.all(accepted);
  });

  test("the texts of a client that has gone leave the queue", async () => {
    const { embedder } = start();
    await embedder.ready();
    const client = new AbortController();
    const asker = { accountId: "gone", signal: client.signal };
    const content = "The lazy dog sleeps. ".repeat(1_500);
    const calls = Array.from({ length: 100 }, () => embedder.embedContent(content, asker));
    const settled = outcomes(calls);
    client.abort();
    expect(new Set(await settled)).toEqual(new Set(["unavailable"]));
    // Each of them takes seconds. One run at most is still going on.
    const next = embedder.embedContent("short", asker);
    expect(await outcomes([next])).toEqual(["unavailable"]);
    expect((await embedder.embedContent("short")).vectors).toHaveLength(1);
  });
});

test("metrics count durations, waiting texts and cache lookups", async () => {
  const metrics = createMetrics();
  const embedder = createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog, metrics });
  open.push(embedder);
  const waiting = [embedder.embedContent("one"), embedder.embedContent("two")];
  const read = async () => readMetrics(await metrics.text());
  expect((await read()).sum("ctxd_embedding_content_queue")).toBe(2);
  await Promise.all([...waiting, embedder.embedQuery("who"), embedder.embedQuery("who")]);
  const { sum, text } = await read();
  expect(sum("ctxd_embedding_content_queue")).toBe(0);
  expect(sum("ctxd_query_cache_lookups_total", { result: "hit" })).toBe(1);
  expect(sum("ctxd_query_cache_lookups_total", { result: "miss" })).toBe(1);
  expect(text).toContain('ctxd_embedding_duration_seconds_count{type="content"} 2');
  expect(text).toContain('ctxd_embedding_duration_seconds_count{type="query"} 1');
});
