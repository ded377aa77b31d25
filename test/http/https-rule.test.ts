import { describe, expect, test } from "bun:test";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

/** The status and the error code of a request with a host name and a key. */
async function ask(
  server: { port: number },
  headers: Record<string, string>,
  line = "GET /api/memories",
) {
  const { status, body } = await sendRaw(server.port, rawRequest(line, headers));
  const parsed: unknown = JSON.parse(body);
  return { status, body: parsed };
}

const REQUIRED = { status: 403, body: { error: { code: "https_required" } } };
const UNAUTHORIZED = { status: 401, body: { error: { code: "unauthorized" } } };

describe("plain HTTP", () => {
  test("is answered under every name of this machine", async () => {
    await using server = await startServer();
    for (const name of [
      "localhost",
      "LOCALHOST",
      "127.0.0.1",
      "127.9.9.9",
      "[::1]",
      "a.localhost",
    ]) {
      for (const host of [name, `${name}:7733`]) {
        expect({ host, ...(await ask(server, { host })) }).toMatchObject({ host, ...UNAUTHORIZED });
      }
    }
  });

  test("is refused under any other name, before credentials are checked", async () => {
    await using server = await startServer();
    const ada = await server.account();
    for (const host of [
      "memory.example.com",
      "localhost.example.com",
      "notlocalhost",
      "127.0.0.1.example.com",
      "10.0.0.1",
      "[2001:db8::1]",
      "localhost@example.com",
      "",
    ]) {
      for (const key of [ada.key, "wrong"]) {
        const headers = { host, authorization: `Bearer ${key}` };
        expect({ host, ...(await ask(server, headers)) }).toMatchObject({ host, ...REQUIRED });
      }
    }
    expect((await server.keys.list(ada.accountId))[0]?.lastUsedAt).toBeNull();
  });

  test("is refused whatever the path and method", async () => {
    await using server = await startServer();
    for (const line of [
      "GET /",
      "GET /docs",
      "POST /api/memories",
      "GET /nothing",
      "GET /api/health",
    ]) {
      expect(await ask(server, { host: "example.com" }, line)).toMatchObject(REQUIRED);
    }
  });
});

describe("a probe of a machine by its address", () => {
  const probe = "GET /api/health";

  test("is answered, because load balancers know neither the host name nor a key", async () => {
    await using server = await startServer();
    for (const host of ["10.0.0.1", "10.0.0.1:7733", "[2001:db8::1]"]) {
      for (const line of [probe, `${probe}/live`]) {
        expect({ host, ...(await ask(server, { host }, line)) }).toMatchObject({
          host,
          status: 200,
        });
      }
    }
  });

  test("is refused with a key, under a name, and for anything else", async () => {
    await using server = await startServer();
    const ada = await server.account();
    const host = "10.0.0.1";
    const key = { authorization: `Bearer ${ada.key}` };
    for (const [headers, line] of [
      [{ host, ...key }, probe],
      [{ host, cookie: "a=b" }, probe],
      [{ host: "example.com" }, probe],
      [{ host: "10.0.0.1.example.com" }, probe],
      [{ host }, "GET /api/health/other"],
      [{ host }, "GET /api/memories"],
    ] as const) {
      expect(await ask(server, headers, line)).toMatchObject(REQUIRED);
    }
  });
});

describe("X-Forwarded-Proto", () => {
  const https = { host: "example.com", "x-forwarded-proto": "https" };

  test("is ignored without a trusted proxy", async () => {
    await using server = await startServer();
    expect(await ask(server, https)).toMatchObject(REQUIRED);
  });

  test("is accepted from a trusted proxy", async () => {
    await using server = await startServer({ config: { trustProxy: true } });
    expect(await ask(server, https)).toMatchObject(UNAUTHORIZED);
    expect(await ask(server, { ...https, "x-forwarded-proto": "HTTPS" })).toMatchObject(
      UNAUTHORIZED,
    );
    for (const proto of ["http", "", "http, https", "https, http", "httpsx"]) {
      const headers = { ...https, "x-forwarded-proto": proto };
      expect({ proto, ...(await ask(server, headers)) }).toMatchObject({ proto, ...REQUIRED });
    }
    expect(await ask(server, { host: "example.com" })).toMatchObject(REQUIRED);
  });
});

test("plain HTTP can be allowed", async () => {
  await using server = await startServer({ config: { allowHttp: true } });
  expect(await ask(server, { host: "example.com" })).toMatchObject(UNAUTHORIZED);
});
