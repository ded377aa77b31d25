import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLimits } from "../../src/http/load/limits.ts";
import { testClock } from "../support/database.ts";
import { startServer, type TestServer } from "../support/server.ts";

const SMALL = { search: 3, write: 2, mcp: 2, address: 5, "sign-in": 2 };
const ADDRESS = { requestIP: () => ({ address: "192.0.2.1" }) };

function createSmall({ rateLimit = true, trustProxy = false } = {}) {
  const clock = testClock();
  const limits = createLimits({ config: { rateLimit, trustProxy }, clock, policies: SMALL });
  return { clock, ...limits };
}

const request = (method: string, path: string, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, { method, headers });

/** The number of requests before the first refused one, or null if 20 are accepted. */
function countUntilRefused(send: () => void) {
  for (let passed = 0; passed < 20; passed++) {
    try {
      send();
    } catch (error) {
      expect(error).toMatchObject({ code: "rate_limited", retryAfter: expect.any(Number) });
      return passed;
    }
  }
  return null;
}

describe("requests with one key", () => {
  const kinds = [
    ["GET", "/api/memories/search?q=x", SMALL.search],
    ["GET", "/api/memories", SMALL.search],
    ["POST", "/api/memories", SMALL.write],
    ["DELETE", "/api/memories/mem_1", SMALL.write],
    ["POST", "/mcp", SMALL.mcp],
  ] as const;

  test.each(kinds)(
    "%s %s is refused after the number of requests in the policy",
    (method, path, most) => {
      const { countHolder } = createSmall();
      expect(countUntilRefused(() => countHolder(request(method, path), "key_1"))).toBe(most);
      // Another key has a limit of its own.
      expect(countUntilRefused(() => countHolder(request(method, path), "key_2"))).toBe(most);
    },
  );

  test("reading, writing and agents' messages are counted separately", () => {
    const { countHolder } = createSmall();
    for (const [method, path, most] of [kinds[0], kinds[2], kinds[4]]) {
      expect(countUntilRefused(() => countHolder(request(method, path), "key_1"))).toBe(most);
    }
  });

  test("are restored evenly over time", () => {
    const { countHolder, clock } = createSmall();
    const send = () => countHolder(request("GET", "/api/memories"), "key_1");
    countUntilRefused(send);
    clock.advance(20_000);
    expect(countUntilRefused(send)).toBe(1);
    clock.advance(3_600_000);
    expect(countUntilRefused(send)).toBe(SMALL.search);
  });

  test("are not lost when the clock is set back", () => {
    const { countHolder, clock } = createSmall();
    const send = () => countHolder(request("GET", "/api/memories"), "key_1");
    send();
    clock.advance(-3_600_000);
    expect(countUntilRefused(send)).toBe(SMALL.search - 1);
  });
});

describe("requests from one address", () => {
  test("are counted together for all keys, and separately for sign-ins", () => {
    const { countAddress } = createSmall();
    const send = (path: string) => () => countAddress(request("GET", path), ADDRESS);
    expect(countUntilRefused(send("/api/memories"))).toBe(SMALL.address);
    expect(countUntilRefused(send("/mcp"))).toBe(0);
    expect(countUntilRefused(send("/token"))).toBe(SMALL["sign-in"]);
    expect(countUntilRefused(send("/api/oauth/token"))).toBe(0);
    expect(countUntilRefused(send("/sign-in"))).toBe(0);
  });

  test("are not counted for health checks and pages", () => {
    const { countAddress } = createSmall();
    for (const path of ["/api/health", "/api/metrics", "/docs", "/"]) {
      expect(countUntilRefused(() => countAddress(request("GET", path), ADDRESS))).toBeNull();
    }
  });

  test("are counted for each client of a trusted proxy", () => {
    const { countAddress } = createSmall({ trustProxy: true });
    const from = (address: string) => () =>
      countAddress(request("GET", "/mcp", { "x-forwarded-for": address }), ADDRESS);
    expect(countUntilRefused(from("198.51.100.1"))).toBe(SMALL.address);
    expect(countUntilRefused(from("198.51.100.2"))).toBe(SMALL.address);
  });
});

test("with limits off, only sign-ins are limited, and no limit is announced", async () => {
  const { countAddress, countHolder, addLimitHeaders } = createSmall({ rateLimit: false });
  const one = request("GET", "/api/memories");
  expect(countUntilRefused(() => countAddress(one, ADDRESS))).toBeNull();
  expect(countUntilRefused(() => countHolder(one, "key_1"))).toBeNull();
  const answer = await addLimitHeaders(() => new Response())(one);
  expect([...(answer as Response).headers]).toEqual([]);
});

test("with limits off, sign-ins are counted", () => {
  for (const path of ["/sign-in", "/setup", "/join/x", "/sign-up", "/api/oauth/token"]) {
    const { countAddress } = createSmall({ rateLimit: false });
    const count = countUntilRefused(() => countAddress(request("POST", path), ADDRESS));
    expect(count).toBe(SMALL["sign-in"]);
  }
});

describe("a server with the default limits", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ config: { rateLimit: true } });
  });
  afterAll(() => server.close());

  test("sends the limit and its remainder", async () => {
    const account = await server.account();
    const search = await account.send("GET", "/memories/search?q=x");
    expect(search.headers.get("ratelimit-policy")).toBe('"search";q=120000;w=60');
    expect(search.headers.get("ratelimit")).toBe('"search";r=119999;t=1');
    const write = await account.send("POST", "/memories", { json: {} });
    expect(write).toMatchObject({ status: 422 });
    expect(write.headers.get("ratelimit")).toBe('"write";r=59999;t=1');
    const stranger = await fetch(`${server.origin}/api/memories`);
    expect(stranger.status).toBe(401);
    expect(stranger.headers.get("ratelimit")).toMatch(/^"address";r=2399\d\d;t=1$/);
    const health = await fetch(`${server.origin}/api/health`);
    expect(health.headers.get("ratelimit")).toBeNull();
  });

  test("refuses a client that requests tokens endlessly, and answers others", async () => {
    const statuses: Record<number, number> = {};
    let last = new Response();
    for (let sent = 0; sent < 1_250; sent++) {
      last = await fetch(`${server.origin}/api/oauth/token`, { method: "POST" });
      statuses[last.status] = (statuses[last.status] ?? 0) + 1;
      await last.clone().arrayBuffer();
    }
    expect(statuses).toEqual({ 400: 1_200, 429: 50 });
    expect(last.headers.get("retry-after")).toBe("1");
    expect(last.headers.get("ratelimit")).toBe('"sign-in";r=0;t=60');
    expect(await last.json()).toMatchObject({ error: { code: "rate_limited" } });
    const account = await server.account();
    await account.save({ content: "not in anybody's way" });
  });
});
