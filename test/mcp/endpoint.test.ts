import { afterAll, describe, expect, test } from "bun:test";
import { generateKey } from "../../src/keys/new-key.ts";
import { expectError } from "../support/errors.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const { key } = await server.account();

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const NEW = "2026-07-28";

interface Sending {
  method?: string;
  headers?: Record<string, string | null>;
  body?: string;
}

/** Sends what a client does, but for what is given; a header of null is left out. */
async function send({ method = "POST", headers = {}, body = JSON.stringify(LIST) }: Sending = {}) {
  const all = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...headers,
  };
  const sent = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as [string, string]],
  );
  const response = await fetch(`${server.origin}/mcp`, {
    method,
    headers: sent,
    ...(method === "POST" && { body }),
  });
  const text = await response.text();
  const json = text.startsWith("event:") ? (/^data: (.*)$/m.exec(text)?.[1] ?? "") : text;
  return {
    status: response.status,
    headers: response.headers,
    body: json === "" ? null : JSON.parse(json),
  };
}

/** A request of the new protocol: its version is in the message and in the headers. */
function modern(method: string, params: Record<string, unknown> = {}, version = NEW): Sending {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    headers: { "mcp-protocol-version": version, "mcp-method": method },
    body: JSON.stringify({ ...LIST, method, params: { ...params, _meta } }),
  };
}

describe("a request without a good key", () => {
  test.each(["POST", "GET", "DELETE", "PUT"])(
    "is refused, whatever its method: %s",
    async (method) => {
      for (const authorization of [null, `Bearer ${generateKey()}`, "Bearer x", `Basic ${key}`]) {
        const answer = await send({ method, headers: { authorization } });
        expectError(answer, { status: 401, code: "unauthorized" });
        expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
      }
    },
  );

  test("is refused before its body is read", async () => {
    const answer = await send({ headers: { authorization: null }, body: "x".repeat(3 << 20) });
    expectError(answer, { status: 401, code: "unauthorized" });
  });
});

test.each(["GET", "DELETE", "PUT", "PATCH"])(
  "there are no sessions: %s is not allowed",
  async (method) => {
    const answer = await send({ method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("POST");
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", error: {} });
  },
);

describe("a web page of someone else", () => {
  test.each([
    "https://evil.example.com",
    "http://localhost.evil.example.com",
    "http://localhost:80@evil.example.com",
    "http://127.0.0.1.evil.example.com",
    "https://localhost.example.com:7733",
    "http://evil.example.com/http://localhost",
    "null",
    "file://",
    "nonsense",
    "",
  ])("is refused by its origin: %s", async (origin) => {
    // An empty header is no header to fetch: sent as it is.
    const headers = { origin, authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify(LIST);
    const { status } = await sendRaw(
      server.port,
      rawRequest("POST /mcp", { ...headers, "content-length": String(body.length) }, body),
    );
    expect(status).toBe(403);
  });

  test.each([
    "evil.example.com",
    "localhost.evil.example.com",
    "localhost@evil.example.com",
    "intranet",
  ])("is refused by the name that it made point here: %s", async (host) => {
    for (const trusting of [false, true]) {
      await using other = await startServer({ config: { allowHttp: trusting } });
      const { key: ownKey } = await other.account();
      const response = await fetch(`${other.origin}/mcp`, {
        method: "POST",
        headers: {
          host,
          authorization: `Bearer ${ownKey}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(LIST),
      });
      expect(response.status).toBe(403);
    }
  });

  test("is another than one of the server itself, or one on this machine", async () => {
    for (const origin of [
      "http://localhost:7733",
      "http://localhost:6274",
      "http://127.0.0.1:8080",
      "http://[::1]:8080",
    ]) {
      expect((await send({ headers: { origin } })).status).toBe(200);
    }
  });
});

test("the server is reached by its public name and by an address", async () => {
  const config = { allowHttp: true, publicUrl: "https://memory.example.com" };
  await using other = await startServer({ config });
  const { key: ownKey } = await other.account();
  for (const host of ["memory.example.com", "192.168.1.7:7733", "[fd00::1]:7733", "localhost"]) {
    const response = await fetch(`${other.origin}/mcp`, {
      method: "POST",
      headers: {
        host,
        origin: "https://memory.example.com",
        authorization: `Bearer ${ownKey}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(LIST),
    });
    expect(response.status).toBe(200);
  }
});

test("a trusted proxy may call the server by any name", async () => {
  await using other = await startServer({ config: { trustProxy: true } });
  const { key: ownKey } = await other.account();
  const headers = {
    host: "ctxd.internal:7733",
    "x-forwarded-proto": "https",
    authorization: `Bearer ${ownKey}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify(LIST);
  const url = `${other.origin}/mcp`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  const foreign = { ...headers, origin: "https://evil.example.com" };
  expect((await fetch(url, { method: "POST", headers: foreign, body })).status).toBe(403);
});

describe("a message that can't be read", () => {
  test.each([
    ["no JSON", { body: "{" }, 400, -32_700],
    ["nothing", { body: "" }, 400, -32_700],
    ["more than a message may have", { body: `"${"x".repeat(1 << 20)}"` }, 413, -32_000],
    ["another type", { headers: { "content-type": "text/plain" } }, 415, -32_000],
  ] as const)("is refused: %s", async (_, sending, status, code) => {
    const answer = await send(sending);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  test("is refused also when its length is not told", async () => {
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1 << 18).fill(32));
      },
    });
    const response = await fetch(`${server.origin}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: stream,
    });
    expect(response.status).toBe(413);
  });

  test("is refused with an agent's name that can't be read", async () => {
    for (const agent of ["%ff", "x".repeat(129)]) {
      const answer = await send({ headers: { "ctxd-agent": agent } });
      expectError(answer, { status: 400, code: "malformed_request" });
    }
  });
});

describe("the old protocol", () => {
  test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "%s is agreed on",
    async (version) => {
      const answer = await send({
        body: JSON.stringify({
          ...LIST,
          method: "initialize",
          params: {
            protocolVersion: version,
            capabilities: {},
            clientInfo: { name: "test", version: "1" },
          },
        }),
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("mcp-session-id")).toBeNull();
      expect(answer.body).toMatchObject({
        id: 1,
        result: { protocolVersion: version, serverInfo: { name: "ctxd" } },
      });
    },
  );

  test("an unknown version in the header is refused", async () => {
    const answer = await send({ headers: { "mcp-protocol-version": "1999-01-01" } });
    expect(answer.status).toBe(400);
  });

  test("a notification is taken without a word", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(await send({ body })).toMatchObject({ status: 202, body: null });
  });

  test("an unknown method is told so", async () => {
    const answer = await send({ body: JSON.stringify({ ...LIST, method: "no/such" }) });
    expect(answer.body).toMatchObject({ id: 1, error: { code: -32_601 } });
  });
});

describe("the new protocol", () => {
  test("tells what the server can do", async () => {
    const answer = await send(modern("server/discover"));
    expect(answer).toMatchObject({
      status: 200,
      body: { id: 1, result: { supportedVersions: [NEW], capabilities: { tools: {} } } },
    });
  });

  test("a header that says something else than the message is refused", async () => {
    const sending = modern("tools/list");
    for (const headers of [
      { ...sending.headers, "mcp-method": "tools/call" },
      { ...sending.headers, "mcp-protocol-version": "2025-11-25" },
      { ...sending.headers, "mcp-method": null },
    ]) {
      expect(await send({ ...sending, headers })).toMatchObject({
        status: 400,
        body: { id: 1, error: { code: -32_020 } },
      });
    }
  });

  test("an unknown version is refused, and the known one named", async () => {
    expect(await send(modern("tools/list", {}, "2099-01-01"))).toMatchObject({
      status: 400,
      body: { error: { code: -32_022, data: { supported: [NEW] } } },
    });
  });

  test("an unknown method is not found", async () => {
    expect(await send(modern("no/such"))).toMatchObject({
      status: 404,
      body: { error: { code: -32_601 } },
    });
  });
});

test("answers are private, whatever they are", async () => {
  for (const sending of [{}, modern("tools/list"), { method: "GET" }, { body: "{" }]) {
    const { headers } = await send(sending);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  }
});
