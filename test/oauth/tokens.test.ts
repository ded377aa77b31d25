import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOAuth } from "../../src/oauth/oauth.ts";
import {
  type OAuthServer,
  REDIRECT_URI,
  startOAuthServer,
  tokensOf,
} from "./support/oauth-server.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

const expectRefused = (answer: { status: number; body: unknown }, error = "invalid_grant") => {
  expect(answer.body).toMatchObject({ error });
  expect(answer.status).toBe(400);
};

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

const callMcp = (token: string) =>
  fetch(`${server.origin}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(initialize),
  });

const challenge = (error: string) =>
  `Bearer realm="ctxd", error="${error}", scope="memories:read memories:write", resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`;

async function expectUnauthorized(token: string) {
  for (const response of [
    await callMcp(token),
    await fetch(`${server.origin}/api/memories`, { headers: { authorization: `Bearer ${token}` } }),
  ]) {
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(challenge("invalid_token"));
    expect(await response.json()).toMatchObject({ error: { code: "unauthorized" } });
  }
}

describe("an access token", () => {
  test("opens /api and /mcp for its account", async () => {
    const { tokens, accountId } = await server.connect();
    await (await server.client(accountId)).save({ content: "Tea without sugar." });
    const response = await fetch(`${server.origin}/api/memories`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await response.json()).toMatchObject({ memories: [{ content: "Tea without sugar." }] });
    expect((await callMcp(tokens.access_token)).status).toBe(200);
  });

  test("is refused in a query, and when it is malformed, a refresh token or a code", async () => {
    const { tokens, code } = await server.connect();
    const inQuery = `${server.origin}/api/memories?access_token=${tokens.access_token}`;
    expect((await fetch(inQuery)).status).toBe(401);
    await expectUnauthorized(tokens.access_token.slice(0, -1));
    await expectUnauthorized(tokens.access_token.toUpperCase());
    await expectUnauthorized(tokens.refresh_token);
    await expectUnauthorized(code ?? "");
  });

  test("is valid for an hour", async () => {
    const { tokens } = await server.connect();
    server.clock.advance(HOUR - 1);
    expect(await server.use(tokens.access_token)).toBe(200);
    server.clock.advance(1);
    await expectUnauthorized(tokens.access_token);
  });

  test("ends with its grant, on the next request", async () => {
    const { tokens, accountId, clientId } = await server.connect();
    const [grant] = await server.oauth.grants.list(accountId);
    await server.oauth.grants.revoke(accountId, grant?.id ?? "");
    await expectUnauthorized(tokens.access_token);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
  });

  test("ends with its account", async () => {
    const { tokens, accountId } = await server.connect();
    await server.accounts.remove(accountId);
    await expectUnauthorized(tokens.access_token);
  });

  test("ends alone when its client revokes it, and stays when another does", async () => {
    const { tokens, clientId } = await server.connect();
    const other = await server.register();
    const token = tokens.access_token;
    const foreign = await server.post("/api/oauth/revoke", { client_id: other.client_id, token });
    expectRefused(foreign);
    expect(await server.use(token)).toBe(200);
    const revoked = await server.post("/api/oauth/revoke", { client_id: clientId, token });
    expect(revoked.status).toBe(200);
    await expectUnauthorized(token);
    expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(200);
    const again = await server.post("/api/oauth/revoke", { client_id: clientId, token });
    expect(again.status).toBe(200);
  });

  test("of another resource is refused", async () => {
    const { tokens } = await server.connect();
    // The same database under another public address: its tokens are for another resource.
    const elsewhere = createOAuth({
      db: server.db,
      clock: server.clock,
      publicUrl: "https://other.example.com",
    });
    const { accountId } = await server.account();
    const client = { id: "client_x", name: "x", redirectUris: [REDIRECT_URI] };
    const code = await elsewhere.codes.create(accountId, {
      client,
      redirectUri: REDIRECT_URI,
      challenge: new Bun.CryptoHasher("sha256").update("v".repeat(43)).digest("base64url"),
      scopes: ["memories:read"],
      resource: "https://other.example.com/mcp",
    });
    const foreign = await elsewhere.codes.redeem({
      clientId: client.id,
      code,
      verifier: "v".repeat(43),
      redirectUri: null,
      resource: "https://other.example.com/mcp",
    });
    expect(await elsewhere.tokens.authenticate(foreign.access_token)).not.toBeNull();
    await expectUnauthorized(foreign.access_token);
    expect(await elsewhere.tokens.authenticate(tokens.access_token)).toBeNull();
  });

  test("that may only read is told so, and what it would need", async () => {
    const { tokens } = await server.connect({ scope: "memories:read" });
    const response = await fetch(`${server.origin}/api/memories`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${tokens.access_token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ content: "x" }),
    });
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBe(challenge("insufficient_scope"));
    expect(await server.use(tokens.access_token)).toBe(200);
  });

  test("an API key that lacks a scope is not told to get a token", async () => {
    const { accountId } = await server.account();
    const answer = await (await server.client(accountId, ["memories:read"])).send(
      "POST",
      "/memories",
    );
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toBeNull();
  });
});

test("a request without a token receives the address to get one, and no error", async () => {
  for (const path of ["/mcp", "/api/memories"]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const { status, headers } = await fetch(server.origin + path, { method });
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toBe(challenge("").replace('error="", ', ""));
    }
  }
});

describe("a refresh token", () => {
  test("gives the next pair, and the old access token holds until its hour is over", async () => {
    const { tokens, clientId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    expect(next.access_token).not.toBe(tokens.access_token);
    expect(next.refresh_token).not.toBe(tokens.refresh_token);
    expect(await server.use(tokens.access_token)).toBe(200);
    expect(await server.use(next.access_token)).toBe(200);
  });

  test("gives access again within a minute, as clients with several sessions need", async () => {
    const { tokens, clientId } = await server.connect();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => server.renew(clientId, tokens.refresh_token)),
    );
    server.clock.advance(MINUTE - 1);
    answers.push(await server.renew(clientId, tokens.refresh_token));
    const withRefresh = answers.filter(({ body }) => "refresh_token" in Object(body));
    expect(withRefresh).toHaveLength(1);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(await server.use(Object(body).access_token)).toBe(200);
      expect(body).toMatchObject({
        token_type: "Bearer",
        expires_in: 3600,
        scope: "memories:read memories:write",
      });
    }
    const [first] = withRefresh.map(tokensOf);
    expect((await server.renew(clientId, first?.refresh_token ?? "")).status).toBe(200);
  });

  test("that is used again later ends its whole grant", async () => {
    const { tokens, clientId, accountId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    server.clock.advance(MINUTE);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
    await expectUnauthorized(next.access_token);
    expectRefused(await server.renew(clientId, next.refresh_token));
    expect((await server.oauth.grants.list(accountId))[0]?.revokedAt).not.toBeNull();
  });

  test("that is used again after the clock was set back ends it too", async () => {
    const { tokens, clientId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    server.clock.advance(-DAY);
    expect(await server.use(next.access_token)).toBe(200);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
    await expectUnauthorized(next.access_token);
    server.clock.advance(DAY);
  });

  test("of another client is refused, and ends nothing", async () => {
    const { tokens, clientId } = await server.connect();
    const thief = await server.register();
    expectRefused(await server.renew(thief.client_id, tokens.refresh_token));
    expectRefused(await server.renew(clientId, tokens.access_token));
    expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test("gives fewer scopes when asked, never more, and has all again next time", async () => {
    const all = await server.connect();
    const { clientId } = all;
    const less = await server.renew(clientId, all.tokens.refresh_token, { scope: "memories:read" });
    expect(tokensOf(less).scope).toBe("memories:read");
    const again = await server.renew(clientId, tokensOf(less).refresh_token);
    expect(tokensOf(again).scope).toBe("memories:read memories:write");

    const reader = await server.connect({ scope: "memories:read" });
    const more = await server.renew(reader.clientId, reader.tokens.refresh_token, {
      scope: "memories:read memories:write",
    });
    expectRefused(more, "invalid_scope");
  });

  test("is for the resource that it was issued for", async () => {
    const { tokens, clientId } = await server.connect();
    const wanted = { resource: "https://other.example.com/mcp" };
    expectRefused(await server.renew(clientId, tokens.refresh_token, wanted), "invalid_target");
  });

  test("holds for 90 days from its last use, and leaves nothing behind", async () => {
    const { tokens, clientId, accountId } = await server.connect();
    server.clock.advance(89 * DAY);
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    server.clock.advance(89 * DAY);
    expect(await server.oauth.grants.list(accountId)).toHaveLength(1);
    server.clock.advance(DAY);
    expectRefused(await server.renew(clientId, next.refresh_token));
    expect(await server.oauth.grants.list(accountId)).toEqual([]);
    await server.connect();
    expect(await server.rows("oauth_grants")).toHaveLength(1);
    expect(await server.rows("oauth_codes")).toHaveLength(1);
    expect(await server.rows("oauth_tokens")).toHaveLength(2);
  });
});

test("a grant shows when it was used, to the minute", async () => {
  const { tokens, accountId } = await server.connect();
  const lastUsed = async () =>
    (await server.oauth.grants.list(accountId))[0]?.lastUsedAt?.getTime() ?? 0;
  await server.use(tokens.access_token);
  const first = await lastUsed();
  expect(first).toBe(server.clock());
  server.clock.advance(MINUTE - 1);
  await server.use(tokens.access_token);
  expect(await lastUsed()).toBe(first);
  server.clock.advance(1);
  await server.use(tokens.access_token);
  expect(await lastUsed()).toBe(server.clock());
});

test("an account can't see or end the grants of another", async () => {
  const { accountId, tokens } = await server.connect();
  const other = await server.account();
  const [grant] = await server.oauth.grants.list(accountId);
  expect(await server.oauth.grants.list(other.accountId)).toEqual([]);
  await expect(server.oauth.grants.revoke(other.accountId, grant?.id ?? "")).rejects.toThrow(
    "No grant",
  );
  expect(await server.use(tokens.access_token)).toBe(200);
});

test("tokens that are over go when the next ones are made, without another consent", async () => {
  const { clientId, tokens } = await server.connect();
  const over = async () =>
    (await server.rows("oauth_tokens")).filter((row) => {
      const { expires_at: expiresAt } = Object(row);
      return expiresAt <= server.clock();
    });
  let token = tokens.refresh_token;
  for (let hours = 0; hours < 5; hours++) {
    server.clock.advance(2 * 3_600_000);
    token = tokensOf(await server.renew(clientId, token)).refresh_token;
    expect(await over()).toEqual([]);
  }
});
