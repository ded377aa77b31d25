import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createMetrics } from "../../src/metrics.ts";
import type { Client } from "../support/client.ts";
import { silentLog, testCacheDir } from "../support/embedder.ts";
import { readMetrics } from "../support/metrics.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

// An engine of its own, whose queue is counted.
const metrics = createMetrics();
const embedder = createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog, metrics });
let server: TestServer;
let owner: Client & { accountId: string };
beforeAll(async () => {
  await embedder.ready();
  // On a busy machine a waiting search may take longer than an idle connection lives.
  server = await startServer({ embedder, idleTimeout: 255 });
  owner = await server.account();
});
afterAll(async () => {
  await server.close();
  await embedder.close();
});

const waiting = async (type: "query" | "content") =>
  readMetrics(await metrics.text()).sum(`ctxd_embedding_${type}_queue`) ?? 0;

const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron"];
/** Texts of a length, each different from the others. */
const textOf = (n: number, length: number) =>
  `${n} ${words[n % words.length]} `.repeat(length).slice(0, length).trim();

test("who keeps many long searches waiting holds up neither saves nor short searches", async () => {
  const reader = await server.client(owner.accountId, ["memories:read"]);
  let asked = 0;
  let isOver = false;
  const flood = async () => {
    while (!isOver) await reader.send("GET", `/memories/search?q=${textOf(asked++, 2_000)}`);
  };
  const flooding = Array.from({ length: 16 }, flood);
  await until("searches wait", async () => (await waiting("query")) > 8);
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
});

test("who has sent as many long texts as it may gets nobody else refused, and takes them along when it goes", async () => {
  const adder = await server.client(owner.accountId, ["memories:add"]);
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
  expect(await waiting("content")).toBeLessThanOrEqual(256);
  for (const client of [owner, other]) {
    await client.save({ content: "The invoice is paid." });
  }
  leaving.abort();
  await settled;
  await until("its texts have left", async () => (await waiting("content")) === 0);
});
