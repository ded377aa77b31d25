import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createTurns } from "../../src/http/load/turns.ts";
import { createMcpRoutes } from "../../src/mcp/routes.ts";
import { runServerSuite } from "../support/conformance.ts";
import { silentLog } from "../support/embedder.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { createFixtureServer } from "./support/fixtures.ts";

/** Scenarios that are not for this server, with the reason. */
const NO_SESSION = "wants to ask the client during a call, which takes a session";
const SKIPPED: Record<string, Record<string, string>> = {
  "2025-11-25": {
    "server-session-lifecycle": "wants a session; there are none",
    "tools-call-sampling": NO_SESSION,
    "tools-call-elicitation": NO_SESSION,
    "elicitation-sep1034-defaults": NO_SESSION,
    "elicitation-sep1330-enums": NO_SESSION,
    "resources-subscribe": "wants a session that remembers what is watched",
    "resources-unsubscribe": "wants a session that remembers what is watched",
    "server-sse-polling": "wants streams that can be resumed, in a session",
    "server-sse-multiple-streams": "wants a session",
  },
  "2026-07-28": {},
};

/** Scenarios that look for nothing by name, so that the product itself passes them. */
const OF_PRODUCT: Record<string, string[]> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
  ],
  "2026-07-28": [
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "sep-2164-resource-not-found",
    "http-header-validation",
    "caching",
  ],
};

let server: TestServer;
let product: string;
let fixtures: string;
let stop: () => Promise<unknown>;

beforeAll(async () => {
  server = await startServer();
  const { key, save } = await server.account();
  await save({ content: "Sam is allergic to peanuts" });
  // The suite knows no keys: this adds one, and leaves everything else as it came.
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${key}`);
      const { method, body } = request;
      return fetch(server.origin + pathname + search, { method, headers, body });
    },
  });
  product = `http://localhost:${proxy.port}/mcp`;

  const app = new Elysia()
    .onError(({ error }) => new Response(String(error), { status: 403 }))
    .use(
      createMcpRoutes({
        loadServer: async () => createFixtureServer,
        authorize: async () => ({
          accountId: "acc_1",
          scopes: [],
          bound: null,
          via: "local",
          credential: { by: "local", id: "local" },
        }),
        turns: createTurns(),
        lastAgents: { note() {} },
        config: { publicUrl: "http://localhost", trustProxy: false },
        log: silentLog,
      }),
    )
    .listen({ hostname: "127.0.0.1", port: 0 });
  fixtures = `http://localhost:${app.server?.port}/mcp`;
  stop = () => Promise.all([proxy.stop(true), app.stop(true), server.close()]);
});
afterAll(() => stop());

describe.each(Object.keys(SKIPPED))("the conformance suite for %s", (version) => {
  const skipped = SKIPPED[version] ?? {};

  test("passes on the server", async () => {
    const outcome = await runServerSuite(product, version);
    for (const scenario of OF_PRODUCT[version] ?? []) {
      expect({ scenario, failed: outcome.get(scenario) }).toEqual({ scenario, failed: 0 });
    }
  });

  test("passes on a server with fixtures behind the same transport", async () => {
    const outcome = await runServerSuite(fixtures, version);
    const passed = [...outcome].filter(([, failed]) => failed === 0).map(([name]) => name);
    const expected = [...outcome.keys()].filter((name) => !(name in skipped));
    expect(passed).toEqual(expected);
    expect(passed.length).toBeGreaterThan(20);
  });

  for (const [scenario, reason] of Object.entries(skipped)) {
    test.skip(`${scenario}: ${reason}`, () => {});
  }
});
