import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();

const ask = (origin: string, method: string, headers: Record<string, string> = {}) =>
  fetch(`${server.origin}/mcp`, { method, headers: { origin, ...headers } });

test.each(["http://localhost:6274", "http://127.0.0.1:6274", "http://localhost:7733"])(
  "a page of this machine may use MCP and read the reason of a refusal: %s",
  async (origin) => {
    const preflight = await ask(origin, "OPTIONS", {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
    });
    expect(preflight.status).toBe(204);
    for (const name of ["Authorization", "ctxd-agent", "ctxd-project", "ctxd-session"]) {
      expect(preflight.headers.get("access-control-allow-headers")).toContain(name);
    }
    for (const answer of [preflight, await ask(origin, "POST")]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      expect(answer.headers.get("vary")).toBe("Origin");
    }
    const allowed = await ask(origin, "POST", {
      authorization: `Bearer ${ada.key}`,
      "content-type": "application/json",
    });
    expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
  },
);

test.each([
  "https://evil.example.com",
  "http://localhost.evil.example.com",
  "http://localhost@evil.example.com",
  "null",
])("a page of others may not: %s", async (origin) => {
  for (const method of ["OPTIONS", "POST"]) {
    const answer = await ask(origin, method, { authorization: `Bearer ${ada.key}` });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("no web page may read the API", async () => {
  const origin = "http://localhost:6274";
  for (const method of ["GET", "OPTIONS"]) {
    const answer = await fetch(`${server.origin}/api/memories`, { method, headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  }
});
