import { describe, expect, test } from "bun:test";
import { BlockList } from "node:net";
import { readConfig } from "../../src/config/config.ts";
import { exactAddress, rememberPeer } from "../../src/http/requests/proxy.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer, type TestServer } from "../support/server.ts";

const PUBLIC_URL = "https://memory.example.com";
const FORGED = { host: "memory.example.com", "x-forwarded-proto": "https" };

const proxies = (value: string) => readConfig({ CTXD_TRUST_PROXY: value }, {}).trustProxy;

/** A server whose clients all have the address 127.0.0.1, which is a trusted proxy or not. */
async function withServer(trusted: string, use: (server: TestServer) => Promise<void>) {
  const config = { trustProxy: proxies(trusted), publicUrl: PUBLIC_URL, rateLimit: true };
  await using server = await startServer({ config });
  await server.account();
  await use(server);
}

const ask = (server: TestServer, line: string, headers: Record<string, string>) =>
  sendRaw(server.port, rawRequest(line, headers));

/** The rights of a client at 127.0.0.1 that sends the headers of a proxy. */
async function attempt(server: TestServer) {
  const api = await ask(server, "GET /api/memories", FORGED);
  const page = await ask(server, "GET /sign-in", { ...FORGED, host: "localhost" });
  const left: (string | undefined)[] = [];
  for (const client of ["198.51.100.1", "198.51.100.2"]) {
    const headers = { host: "localhost", "x-forwarded-for": client };
    const { headers: answered } = await ask(server, "GET /api/memories", headers);
    left.push(/r=(\d+)/.exec(answered.get("ratelimit") ?? "")?.[1]);
  }
  return {
    passesForHttps: api.status !== 403,
    getsAnyHostName: page.status === 200,
    countsAsManyClients: left[0] === left[1],
    setsHttpsOnlyForBrowsers: page.headers.has("strict-transport-security"),
  };
}

test.each([
  ["10.0.0.0/8, fd00::/8, 192.0.2.7", false],
  ["false", false],
  ["127.0.0.1", true],
  ["10.0.0.0/8,127.0.0.0/8", true],
  ["true", true],
])(
  "somebody who is no proxy writes a proxy's headers; trusted: %s",
  async (trusted, isBelieved) => {
    await withServer(trusted, async (server) => {
      expect(await attempt(server)).toEqual({
        passesForHttps: isBelieved,
        getsAnyHostName: isBelieved,
        countsAsManyClients: isBelieved,
        setsHttpsOnlyForBrowsers: isBelieved,
      });
      const { status } = await ask(server, "POST /mcp", { ...FORGED, host: "evil.example.com" });
      expect(status).toBe(isBelieved ? 401 : 403);
    });
  },
);

describe("the address that a trusted proxy names", () => {
  const addressOf = (peer: string, forwardedFor: string, trusted: string) => {
    const request = new Request("http://localhost/", {
      headers: { "x-forwarded-for": forwardedFor },
    });
    rememberPeer(request, { requestIP: () => ({ address: peer }) });
    return exactAddress(request, { trustProxy: proxies(trusted) });
  };
  const list = "10.0.0.0/8,fd00::/8,127.0.0.1";

  test.each([
    ["10.1.2.3", "203.0.113.9", list, "203.0.113.9"],
    // The addresses before it are written by the client.
    ["10.1.2.3", "1.1.1.1, 203.0.113.9", list, "203.0.113.9"],
    ["10.1.2.3", "1.1.1.1, 203.0.113.9", "true", "203.0.113.9"],
    ["10.1.2.3", "1.1.1.1, 203.0.113.9, 10.9.9.9", list, "203.0.113.9"],
    ["::ffff:10.1.2.3", "203.0.113.9:5123", list, "203.0.113.9"],
    ["fd00::5", "[2001:db8::1]:443", list, "2001:db8::1"],
    ["10.1.2.3", "10.4.4.4", list, "10.4.4.4"],
    ["10.1.2.3", "", list, "10.1.2.3"],
    ["192.0.2.1", "203.0.113.9", list, "192.0.2.1"],
    ["fe80::1%eth0", "203.0.113.9", list, "fe80::1"],
    ["10.1.2.3", "not an address", list, null],
  ])("from %s with %j, trusted %s, is %s", (peer, forwardedFor, trusted, expected) => {
    expect(addressOf(peer, forwardedFor, trusted)).toBe(expected);
  });
});

test("an invalid list of proxies prevents the start", () => {
  for (const value of [
    "yes",
    "10.0.0.0/33",
    "10.0.0",
    "localhost",
    "10.0.0.1,",
    "::/129",
    "1.2.3.4/x",
  ]) {
    expect(() => proxies(value)).toThrow(`CTXD_TRUST_PROXY=${JSON.stringify(value)} is not valid`);
  }
  expect(proxies("10.0.0.1")).toBeInstanceOf(BlockList);
});
