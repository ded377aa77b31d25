import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { outcomeOf } from "../support/outcome.ts";
import { createAuthMemory } from "./support/auth-memory.ts";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";

const IDENTITY = { name: "ctxd-test", version: "1.0.0" };

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

/** Both versions of the SDK's client, with one interface. */
const SDKS = {
  v1: (authProvider: ReturnType<typeof createAuthMemory>, url: URL) => {
    const client = new OldClient(IDENTITY);
    const transport = () => new OldTransport(url, { authProvider });
    return {
      connect: () => client.connect(transport()),
      finish: (answer: URLSearchParams) => transport().finishAuth(answer.get("code") ?? ""),
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  },
  v2: (authProvider: ReturnType<typeof createAuthMemory>, url: URL) => {
    const client = new ModernClient(IDENTITY);
    const transport = () => new ModernTransport(url, { authProvider });
    return {
      connect: () => client.connect(transport()),
      finish: (answer: URLSearchParams) => transport().finishAuth(answer),
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  },
};

describe.each(["v1", "v2"] as const)("the SDK's client %s", (name) => {
  test("signs in after a 401, renews its token, and signs in again after a revocation", async () => {
    const memory = createAuthMemory();
    const url = new URL(`${server.origin}/mcp`);
    const { person, accountId } = await server.signedIn();
    const allow = async () => {
      const page = await person.visit(memory.wanted?.href ?? "");
      const { location } = await person.submit(page, { decision: "allow" });
      expect(location).toStartWith(String(memory.redirectUrl));
      return new URL(location ?? "").searchParams;
    };

    const first = SDKS[name](memory, url);
    expect(await outcomeOf(first.connect())).toThrow();
    expect(memory.wanted?.href).toStartWith(`${server.origin}/api/oauth/authorize?`);
    expect(memory.wanted?.searchParams.get("resource")).toBe(url.href);
    await first.finish(await allow());
    const { connect, tools, close } = SDKS[name](memory, url);
    await connect();
    expect(await tools()).toContain("search_memories");

    // The access token has expired, so the next call must renew it.
    const before = memory.tokens()?.access_token;
    server.clock.advance(3_600_000);
    expect(await tools()).toContain("save_memory");
    expect(memory.tokens()?.access_token).not.toBe(before);
    await close();

    for (const { id } of await server.oauth.grants.list(accountId)) {
      await server.oauth.grants.revoke(accountId, id);
    }
    memory.wanted = null;
    await server.sessions.prove(person.jar.get("ctxd-session") ?? "");
    const revoked = SDKS[name](memory, url);
    expect(await outcomeOf(revoked.connect())).toThrow();
    await revoked.finish(await allow());
    const again = SDKS[name](memory, url);
    await again.connect();
    expect(await again.tools()).toContain("search_memories");
    await again.close();
  });

  test("registers again when the server has forgotten it", async () => {
    const memory = createAuthMemory();
    const url = new URL(`${server.origin}/mcp`);
    memory.saveClientInformation({ client_id: "client_gone" });
    memory.saveTokens({ access_token: "gone", token_type: "Bearer", refresh_token: "gone" });
    expect(await outcomeOf(SDKS[name](memory, url).connect())).toThrow();
    expect(memory.clientInformation()?.client_id).toMatch(/^client_[0-9a-f]{32}$/);
    expect(memory.wanted).not.toBeNull();
  });
});

test("the SDK's client v2 refuses an answer that names another server", async () => {
  const memory = createAuthMemory();
  const client = SDKS.v2(memory, new URL(`${server.origin}/mcp`));
  expect(await outcomeOf(client.connect())).toThrow();
  const { person } = await server.signedIn();
  const page = await person.visit(memory.wanted?.href ?? "");
  const { location } = await person.submit(page, { decision: "allow" });
  const answer = new URL(location ?? "").searchParams;
  answer.set("iss", "https://evil.example.com");
  expect(await outcomeOf(client.finish(answer))).toThrow(/iss/i);
  expect(memory.tokens()).toBeUndefined();
});
