import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { outcomeOf } from "../support/outcome.ts";
import { type OAuthServer, REDIRECT_URI, startOAuthServer } from "./support/oauth-server.ts";
import { callMcp, challenge, expectRefused, expectUnauthorized } from "./support/token-requests.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

describe("an access token", () => {
  test("opens /api and /mcp for its account", async () => {
    const { tokens, accountId } = await server.connect();
    await (await server.client(accountId)).save({ content: "Tea without sugar." });
    const response = await fetch(`${server.origin}/api/memories`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await response.json()).toMatchObject({ memories: [{ content: "Tea without sugar." }] });
    expect((await callMcp(server, tokens.access_token)).status).toBe(200);
  });

  test("is refused in a query string, and a malformed token, a refresh token and a code are refused", async () => {
    const { tokens, code } = await server.connect();
    const inQuery = `${server.origin}/api/memories?access_token=${tokens.access_token}`;
    expect((await fetch(inQuery)).status).toBe(401);
    await expectUnauthorized(server, tokens.access_token.slice(0, -1));
    await expectUnauthorized(server, tokens.access_token.toUpperCase());
    await expectUnauthorized(server, tokens.refresh_token);
    await expectUnauthorized(server, code ?? "");
  });

  test("is valid for an hour", async () => {
    const { tokens } = await server.connect();
    server.clock.advance(HOUR - 1);
    expect(await server.use(tokens.access_token)).toBe(200);
    server.clock.advance(1);
    await expectUnauthorized(server, tokens.access_token);
  });

  test("ends with its grant, on the next request", async () => {
    const { tokens, accountId, clientId } = await server.connect();
    const [grant] = await server.oauth.grants.list(accountId);
    await server.oauth.grants.revoke(accountId, grant?.id ?? "");
    await expectUnauthorized(server, tokens.access_token);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
  });

  test("ends with its account", async () => {
    const { tokens, accountId } = await server.connect();
    await server.accounts.remove(accountId);
    await expectUnauthorized(server, tokens.access_token);
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
    await expectUnauthorized(server, token);
    expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(200);
    const again = await server.post("/api/oauth/revoke", { client_id: clientId, token });
    expect(again.status).toBe(200);
  });

  test("of another resource is refused", async () => {
    const { tokens } = await server.connect();
    // Under another public address, the same database issues tokens for another resource.
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
    await expectUnauthorized(server, foreign.access_token);
    expect(await elsewhere.tokens.authenticate(tokens.access_token)).toBeNull();
  });

  test("without the scope to write receives 403 with the scopes that it needs", async () => {
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
    expect(response.headers.get("www-authenticate")).toBe(challenge(server, "insufficient_scope"));
    expect(await server.use(tokens.access_token)).toBe(200);
  });

  test("an API key without the scope receives 403 without an OAuth challenge", async () => {
    const { accountId } = await server.account();
    const answer = await (await server.client(accountId, ["memories:read"])).send(
      "POST",
      "/memories",
    );
    expect(answer.status).toBe(403);
    expect(answer.headers.get("www-authenticate")).toBeNull();
  });
});

test("a request without a token receives the address of the metadata, and no error", async () => {
  for (const path of ["/mcp", "/api/memories"]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const { status, headers } = await fetch(server.origin + path, { method });
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toBe(challenge(server, "").replace('error="", ', ""));
    }
  }
});

test("a grant shows its last use, to the minute", async () => {
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
  expect(await outcomeOf(server.oauth.grants.revoke(other.accountId, grant?.id ?? ""))).toThrow(
    "No grant",
  );
  expect(await server.use(tokens.access_token)).toBe(200);
});
