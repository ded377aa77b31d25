import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

const get = async (path: string): Promise<Record<string, unknown>> => {
  const response = await fetch(server.origin + path, { redirect: "error" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("application/json");
  return Object.fromEntries(Object.entries((await response.json()) as object));
};

test("the server's metadata is at both paths that clients use, with the origin as issuer", async () => {
  const metadata = await get("/.well-known/oauth-authorization-server");
  expect(await get("/.well-known/oauth-authorization-server/mcp")).toEqual(metadata);
  expect(metadata).toMatchObject({
    issuer: server.origin,
    authorization_endpoint: `${server.origin}/api/oauth/authorize`,
    token_endpoint: `${server.origin}/api/oauth/token`,
    registration_endpoint: `${server.origin}/api/oauth/register`,
    revocation_endpoint: `${server.origin}/api/oauth/revoke`,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    authorization_response_iss_parameter_supported: true,
    // Claude and opencode use a metadata document only if the metadata announces both.
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
  });
});

test("the resource's metadata is at both paths, and names /mcp without a final slash", async () => {
  const metadata = await get("/.well-known/oauth-protected-resource/mcp");
  expect(await get("/.well-known/oauth-protected-resource")).toEqual(metadata);
  expect(metadata).toMatchObject({
    resource: `${server.origin}/mcp`,
    authorization_servers: [server.origin],
    scopes_supported: ["memories:read", "memories:write"],
    bearer_methods_supported: ["header"],
  });
});

test.each([
  "/.well-known/openid-configuration",
  "/.well-known/openid-configuration/mcp",
  "/mcp/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server/other",
  "/.well-known/oauth-protected-resource/api",
])("an unknown path receives 404 with JSON: %s", async (path) => {
  const response = await fetch(server.origin + path, { redirect: "error" });
  expect(response.status).toBe(404);
  expect(await response.json()).toHaveProperty("error");
});

test("web pages may call the endpoints for clients, but not the pages for people", async () => {
  const origin = "https://inspector.example.com";
  const open = ["register", "token", "revoke"].flatMap((name) => [
    `/${name}`,
    `/api/oauth/${name}`,
  ]);
  const documents = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
  ];
  for (const path of [...open, ...documents]) {
    const preflight = await fetch(server.origin + path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    const method = documents.includes(path) ? "GET" : "POST";
    const answer = await fetch(server.origin + path, { method, headers: { origin } });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  }
  for (const path of ["/api/oauth/authorize", "/authorize", "/sign-in", "/sign-out"]) {
    const preflight = await fetch(server.origin + path, { method: "OPTIONS", headers: { origin } });
    expect(preflight.status).toBe(405);
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  }
});
