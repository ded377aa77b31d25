import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

const read = async (path: string) => {
  const response = await fetch(server.origin + path, { redirect: "error" });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
};

const SERVER = "/.well-known/oauth-authorization-server";
const RESOURCE = "/.well-known/oauth-protected-resource";

test.each([
  [`/api${SERVER}`, SERVER],
  [`/api${SERVER}/mcp`, SERVER],
  // RFC 8414, section 3.1, for clients that use the base as the issuer.
  [`${SERVER}/api`, SERVER],
  [`/api${RESOURCE}`, RESOURCE],
  [`/api${RESOURCE}/mcp`, RESOURCE],
])("a client that starts from the base finds the same document: %s", async (path, root) => {
  const { status, headers, body } = await read(path);
  expect({ status, body }).toEqual({ status: 200, body: (await read(root)).body });
  expect(headers.get("content-type")).toStartWith("application/json");
  expect(headers.get("access-control-allow-origin")).toBe("*");
  const preflight = await fetch(server.origin + path, { method: "OPTIONS" });
  expect(preflight.status).toBe(204);
  // A forged host name does not become the issuer.
  const misled = await fetch(server.origin + path, {
    headers: { "x-forwarded-host": "evil.example" },
  });
  expect(await misled.text()).not.toContain("evil");
});

test.each([
  "/api/.well-known/openid-configuration",
  "/.well-known/openid-configuration/api",
  `/api${SERVER}/other`,
  `/api/mcp${SERVER}`,
  `/api/.well-known/`,
  `/api/.well-known`,
])("what is not there is a 404 in JSON, without a key: %s", async (path) => {
  const { status, headers, body } = await read(path);
  expect(status).toBe(404);
  expect(headers.get("content-type")).toStartWith("application/json");
  expect(body).toHaveProperty("error.code", "not_found");
});

test("the issuer is the origin without a path, because clients compare it byte for byte", async () => {
  expect((await read(`/api${SERVER}`)).body).toMatchObject({
    issuer: server.origin,
    token_endpoint: `${server.origin}/api/oauth/token`,
  });
});
