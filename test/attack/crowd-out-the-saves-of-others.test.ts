import { expect, test } from "bun:test";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createMetrics } from "../../src/metrics.ts";
import { silentLog, testCacheDir } from "../support/embedder.ts";
import { readMetrics } from "../support/metrics.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

/** A server with an engine of its own, whose queue is counted. */
async function start() {
  const metrics = createMetrics();
  const embedder = createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog, metrics });
  await embedder.ready();
  const server = await startServer({ embedder });
  return {
    server,
    waiting: async (type: "query" | "content") =>
      readMetrics(await metrics.text()).sum(`ctxd_embedding_${type}_queue`) ?? 0,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await embedder.close();
    },
  };
}

const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron"];
/** Texts of a length, each different from the others. */
const textOf = (n: number, length: number) =>
  `${n} ${words[n % words.length]} `.repeat(length).slice(0, length).trim();

test("who keeps many long searches waiting holds up neither saves nor short searches", async () => {
  await using started = await start();
  const { server } = started;
  const owner = await server.account();
  const { id: accountId } = (await server.accounts.findOwner()) ?? { id: "" };
  const reader = await server.client(accountId, ["memories:read"]);
  let asked = 0;
  let isOver = false;
  const flood = async () => {
    while (!isOver) await reader.send("GET", `/memories/search?q=${textOf(asked++, 2_000)}`);
  };
  const flooding = Array.from({ length: 16 }, flood);
  await until("searches wait", async () => (await started.waiting("query")) > 8);
  const before = asked;
  for (let n = 0; n < 5; n++) {
    await owner.save({ content: `The invoice ${n} is paid.` });
    await owner.send("GET", `/memories/search?q=invoice+${n}`);
  }
  const meanwhile = asked - before;
  isOver = true;
  await Promise.all(flooding);
  // Ten texts, and for each no more than a few runs for long ones.
  expect(meanwhile).toBeLessThan(60);
}, 120_000);

test("who has sent as many long texts as it may gets nobody else refused, and takes them along when it goes", async () => {
  await using started = await start();
  const { server } = started;
  const owner = await server.account();
  const { id: accountId } = (await server.accounts.findOwner()) ?? { id: "" };
  const adder = await server.client(accountId, ["memories:add"]);
  const other = await server.account();
  const leaving = new AbortController();
  const batch = (n: number) => ({
    memories: Array.from({ length: 256 }, (_, place) => ({
      content: textOf(n * 256 + place, 32_000),
    })),
  });
  const statuses: number[] = [];
  const flood = [0, 1, 2].map(async (n) => {
    const response = await fetch(`${server.origin}/api/memories/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${adder.key}`, "content-type": "application/json" },
      body: JSON.stringify(batch(n)),
      signal: leaving.signal,
    });
    statuses.push(response.status);
  });
  const settled = Promise.allSettled(flood);
  await until("two of three are refused", () => statuses.length === 2);
  expect(statuses).toEqual([503, 503]);
  // What they had waiting has left with them.
  expect(await started.waiting("content")).toBeLessThanOrEqual(256);
  for (const client of [owner, other]) {
    await client.save({ content: "The invoice is paid." });
  }
  leaving.abort();
  await settled;
  await until("its texts have left", async () => (await started.waiting("content")) === 0);
}, 120_000);
