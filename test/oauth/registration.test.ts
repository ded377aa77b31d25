import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OAuthServer, REDIRECT_URI, startOAuthServer } from "./support/oauth-server.ts";
import { REGISTRATIONS } from "./support/registrations.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

async function register(body: unknown, at = server) {
  const response = await fetch(`${at.origin}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, headers: response.headers, body: answer };
}

describe("accepts the registrations of real clients:", () => {
  test.each([
    ...Object.entries(REGISTRATIONS),
    ["Codex", { client_name: "Codex", redirect_uris: ["http://127.0.0.1:41235/callback/abc"] }],
    [
      "mcp-remote",
      { client_name: "MCP CLI Proxy", redirect_uris: ["http://localhost:3334/oauth/callback"] },
    ],
    ["one without a name", { redirect_uris: ["http://[::1]:7777/oauth/callback"] }],
  ])("%s", async (_, metadata) => {
    const { status, body, headers } = await register(metadata);
    const method = "token_endpoint_auth_method" in metadata && metadata.token_endpoint_auth_method;
    expect(body).toEqual({
      client_id: expect.stringMatching(/^client_[0-9a-f]{32}$/),
      client_id_issued_at: Math.floor(server.clock() / 1000),
      ...(method !== "none" && {
        client_secret: expect.stringMatching(/^ctxs_/),
        client_secret_expires_at: 0,
      }),
      client_name: "client_name" in metadata ? metadata.client_name : "[::1]:7777",
      redirect_uris: metadata.redirect_uris,
      token_endpoint_auth_method: method || "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    });
    expect(status).toBe(201);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("refuses a redirect URI:", () => {
  test.each([
    "javascript:alert(1)",
    "JavaScript://app.example.com/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example.com/x",
    "about:blank",
    "intent://x",
    "ftp://app.example.com/",
    "ws://localhost/callback",
    "http://app.example.com/callback",
    "http://127.0.0.2/callback",
    "http://localhost.evil.example.com/",
    "http://localhost:99999/",
    "http://192.168.0.1/callback",
    "http://[::ffff:127.0.0.1]/",
    "https://app.example.com/callback#fragment",
    "https://app.example.com/callback#",
    "https://user:secret@app.example.com/callback",
    "https://user@app.example.com/callback",
    "https://@app.example.com/callback",
    "https:app.example.com/callback",
    "https:///app.example.com/callback",
    "https:\\\\app.example.com\\callback",
    "https://app.example.com/call back",
    "https://app.example.com/\r\nSet-Cookie: x=y",
    "https://äpp.example.com/callback",
    "https://*.example.com/callback|x",
    "cursor://anysphere.cursor-mcp/oauth/callback/more",
    "cursor://evil/oauth/callback",
    "CURSOR://anysphere.cursor-mcp/oauth/callback",
    "myapp://callback",
    "//app.example.com/callback",
    "/callback",
    "",
    `https://app.example.com/${"x".repeat(2_100)}`,
  ])("%.60s", async (uri) => {
    for (const redirect_uris of [[uri], [REDIRECT_URI, uri]]) {
      const answer = await register({ redirect_uris });
      expect(answer.body).toEqual({
        error: "invalid_redirect_uri",
        error_description: expect.stringMatching(/^[^<]{10,300}$/),
      });
      expect(answer.status).toBe(400);
    }
  });
});

test.each([
  ["{", "invalid_client_metadata"],
  ["[]", "invalid_client_metadata"],
  ["null", "invalid_client_metadata"],
  [{}, "invalid_redirect_uri"],
  [{ redirect_uris: "https://app.example.com" }, "invalid_redirect_uri"],
  [{ redirect_uris: [] }, "invalid_redirect_uri"],
  [{ redirect_uris: [1] }, "invalid_redirect_uri"],
  [{ redirect_uris: Array(21).fill(REDIRECT_URI) }, "invalid_redirect_uri"],
  [
    { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "private_key_jwt" },
    "invalid_client_metadata",
  ],
  [{ redirect_uris: [REDIRECT_URI], grant_types: ["implicit"] }, "invalid_client_metadata"],
  [{ redirect_uris: [REDIRECT_URI], response_types: ["token"] }, "invalid_client_metadata"],
  [`{"x":"${"x".repeat(70_000)}"}`, "invalid_request"],
])("refuses %j", async (body, error) => {
  const answer = await register(body);
  expect(answer.body).toMatchObject({ error });
  expect([400, 413]).toContain(answer.status);
});

test("a client that never received a token is deleted after a day, others never", async () => {
  const unused = await server.register();
  const { clientId, person } = await server.connect();
  server.clock.advance(24 * 3_600_000);
  await server.register();
  expect(await server.oauth.clients.find(unused.client_id)).toBeNull();
  server.clock.advance(1_000 * 24 * 3_600_000);
  await server.register();
  expect(await server.oauth.clients.find(clientId)).not.toBeNull();
  expect(person.jar.size).toBe(1);
});

test("registrations from one address are limited", async () => {
  await using limited = await startOAuthServer();
  const metadata = { redirect_uris: [REDIRECT_URI] };
  const answers = [];
  for (let count = 0; count < 61; count++) answers.push(await register(metadata, limited));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(60);
  expect(answers.at(-1)).toMatchObject({
    status: 429,
    body: { error: "temporarily_unavailable" },
  });
  expect(answers.at(-1)?.headers.get("retry-after")).toBe("60");
  limited.clock.advance(60_000);
  expect((await register(metadata, limited)).status).toBe(201);
});
