import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { readMetrics } from "../support/metrics.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const lines: string[] = [];
const log = createLog({ logLevel: "debug", logFormat: "json" }, (line) => lines.push(line));
let server: TestServer;
let owner: Awaited<ReturnType<TestServer["account"]>>;
beforeAll(async () => {
  server = await startServer({ log, config: { allowHttp: true } });
  owner = await server.account();
});
afterAll(() => server.close());

async function scrape({ origin } = server, { key } = owner) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${origin}/api/metrics`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  return readMetrics(await response.text());
}

/** Requests metrics from this machine with these headers. */
async function ask(headers: Record<string, string>) {
  return (await sendRaw(server.port, rawRequest("GET /api/metrics", headers))).status;
}

const numberOf = (line: string) => Number(line.split(" ").at(-1));

describe("who may read metrics:", () => {
  test("nobody without a key, whether from this machine, through a proxy or under another name", async () => {
    for (const headers of [
      { host: "localhost" },
      { host: "127.0.0.1:7733" },
      { host: "memory.example.com" },
      { host: "localhost", "x-forwarded-for": "127.0.0.1" },
      { host: "localhost", forwarded: "for=127.0.0.1" },
      { host: "localhost", via: "1.1 proxy" },
      { host: "localhost", "x-real-ip": "127.0.0.1" },
      { host: "localhost", "x-forwarded-proto": "http" },
    ]) {
      expect({ headers, status: await ask(headers) }).toEqual({ headers, status: 401 });
    }
  });

  test("holders of a key of the owner, and of no other key", async () => {
    const member = await server.account();
    const host = "memory.example.com";
    expect(await ask({ host, authorization: `Bearer ${owner.key}` })).toBe(200);
    expect(await ask({ host, authorization: `Bearer ${member.key}` })).toBe(403);
    expect(await ask({ host, authorization: "Bearer ctx_wrong" })).toBe(401);
  });
});

test("every metric has a help text, a type and a name by the rules of Prometheus", async () => {
  const account = await server.account();
  await account.save({ content: "counted" });
  const { families } = await scrape();
  expect(families.length).toBeGreaterThan(8);
  for (const { name, help, type } of families) {
    expect(name).toMatch(/^(ctxd|process)_[a-z_]+$/);
    expect(help).toMatch(/^[A-Z].*\.$/);
    expect(name.endsWith("_total")).toBe(type === "COUNTER");
  }
});

test("requests are counted by route and status, not by path", async () => {
  const account = await server.account();
  const { id } = await account.save({ content: "counted by route" });
  const before = await scrape();
  await account.get(id);
  await account.get(id);
  await account.send("GET", "/memories/mem_0197f2c4e0b47c3a9a1d5b8e2f60c711");
  for (const path of ["/none", "/api/x", "/api/y?q=1"]) await fetch(`${server.origin}${path}`);
  await sendRaw(server.port, rawRequest("PATCH /api/memories"));

  const after = await scrape();
  const grown = (labels: Record<string, string>) =>
    (after.sum("ctxd_http_requests_total", labels) ?? 0) -
    (before.sum("ctxd_http_requests_total", labels) ?? 0);
  expect(grown({ method: "GET", route: "/api/memories/:id", status: "200" })).toBe(2);
  expect(grown({ method: "GET", route: "/api/memories/:id", status: "404" })).toBe(1);
  expect(grown({ method: "GET", route: "unknown", status: "404" })).toBe(3);
  expect(grown({ method: "other" })).toBe(1);
  const name = "ctxd_http_request_duration_seconds";
  const of = '{method="GET",route="/api/memories/:id"}';
  const lines = after.text.split("\n").filter((line) => line.includes('route="/api/memories/:id"'));
  const buckets = lines.filter((line) => line.startsWith(`${name}_bucket`)).map(numberOf);
  expect(buckets.length).toBeGreaterThan(10);
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
  const count = lines.find((line) => line.startsWith(`${name}_count${of}`)) ?? "";
  expect(numberOf(count)).toBe(buckets.at(-1) ?? 0);
  for (const secret of [id, account.accountId, account.key]) {
    expect(after.text).not.toContain(secret);
  }
});

test("commits, their memories and the entries of the log are counted", async () => {
  const account = await server.account();
  const before = await scrape();
  const [first] = await account.saveAll([{ content: "one" }, { content: "two" }]);
  await account.remove(first?.id ?? "");
  const after = await scrape();
  const grown = (name: string) => (after.sum(name) ?? 0) - (before.sum(name) ?? 0);
  expect(grown("ctxd_commits_total")).toBe(2);
  expect(grown("ctxd_memories_written_total")).toBe(2);
  expect(grown("ctxd_memories_removed_total")).toBe(1);
  expect(after.sum("ctxd_log_entries")).toBeGreaterThan(0);
  expect(after.sum("ctxd_flush_lag_seconds")).toBeGreaterThan(0);
  expect(after.sum("ctxd_forgetting_lag_seconds")).toBeGreaterThan(0);
  expect(after.sum("ctxd_open_tables")).toBeGreaterThan(0);
});

test("the size of views and bases is reported as it grows", async () => {
  const account = await server.account();
  await account.saveAll([{ content: "a red bicycle" }, { content: "a red boat" }]);
  const before = await scrape();
  await account.search("red bicycle");
  const after = await scrape();
  const grown = (name: string) => (after.sum(name) ?? 0) - (before.sum(name) ?? 0);
  expect(grown("ctxd_view_memories")).toBe(2);
  expect(grown("ctxd_view_bytes")).toBeGreaterThan(0);
  await account.save({ content: "a red car" });
  expect((await scrape()).sum("ctxd_view_memories")).toBe(
    (after.sum("ctxd_view_memories") ?? 0) + 1,
  );
});

test("a flush is counted, and moves entries from the log and their passages to the base", async () => {
  await using flushing = await startServer({ due: { ...UPKEEP_LIMITS, idle: 100 } });
  const account = await flushing.account();
  await account.saveAll([{ content: "one passage" }, { content: "two\n\npassages" }]);
  const flushes = { chore: "flush", result: "ok" };
  const isDone = (now: Awaited<ReturnType<typeof scrape>>) =>
    now.sum("ctxd_log_entries") === 0 &&
    now.sum("ctxd_flush_lag_seconds") === 0 &&
    (now.sum("ctxd_upkeep_runs_total", flushes) ?? 0) > 0;
  const now = await until("the flush is counted", async () => {
    const page = await scrape(flushing, account);
    return isDone(page) && page;
  });
  expect(now.sum("ctxd_base_rows")).toBe(3);
});

describe("the log", () => {
  test("has a line for each request, with the id of its answer", async () => {
    const account = await server.account();
    lines.length = 0;
    const sent = "chosen-by-the-client";
    const headers = { "x-request-id": sent };
    const answer = await account.send("GET", "/memories/search?q=who%20is%20Zaphod", { headers });
    const id = answer.headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const line = lines.map((text) => JSON.parse(text)).find((each) => each.id === id);
    expect(line).toMatchObject({
      level: "debug",
      event: "request",
      method: "GET",
      route: "/api/memories/search",
      status: 200,
      ms: expect.any(Number),
    });
    const all = lines.join("");
    for (const secret of [sent, "Zaphod", account.key, account.key.slice(4, 20)]) {
      expect(all).not.toContain(secret);
    }
  });

  test("has the ids of all answers, also of errors, and no id twice", async () => {
    const paths = ["/api/health", "/api/nothing", "/docs", "/api/memories", "/%ff"];
    const ids = await Promise.all(
      paths.map(async (path) =>
        (await fetch(`${server.origin}${path}`)).headers.get("x-request-id"),
      ),
    );
    expect(new Set(ids).size).toBe(paths.length);
    for (const id of ids)
      expect(lines.filter((line) => line.includes(id ?? "none"))).toHaveLength(1);
  });
});
