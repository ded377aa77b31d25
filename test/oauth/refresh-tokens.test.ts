import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer, tokensOf } from "./support/oauth-server.ts";

import { expectRefused, expectUnauthorized } from "./support/token-requests.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

describe("a refresh token", () => {
  test("gives new tokens, and the old access token is valid until its hour ends", async () => {
    const { tokens, clientId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    expect(next.access_token).not.toBe(tokens.access_token);
    expect(next.refresh_token).not.toBe(tokens.refresh_token);
    expect(await server.use(tokens.access_token)).toBe(200);
    expect(await server.use(next.access_token)).toBe(200);
  });

  test("gives access again within a minute, for clients with several sessions", async () => {
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

  test("that is used again after a minute ends its whole grant", async () => {
    const { tokens, clientId, accountId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    server.clock.advance(MINUTE);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
    await expectUnauthorized(server, next.access_token);
    expectRefused(await server.renew(clientId, next.refresh_token));
    expect((await server.oauth.grants.list(accountId))[0]?.revokedAt).not.toBeNull();
  });

  test("that is used again after the clock was set back ends its whole grant too", async () => {
    const { tokens, clientId } = await server.connect();
    const next = tokensOf(await server.renew(clientId, tokens.refresh_token));
    server.clock.advance(-DAY);
    expect(await server.use(next.access_token)).toBe(200);
    expectRefused(await server.renew(clientId, tokens.refresh_token));
    await expectUnauthorized(server, next.access_token);
    server.clock.advance(DAY);
  });

  test("of another client is refused, and ends nothing", async () => {
    const { tokens, clientId } = await server.connect();
    const thief = await server.register();
    expectRefused(await server.renew(thief.client_id, tokens.refresh_token));
    expectRefused(await server.renew(clientId, tokens.access_token));
    expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(200);
  });

  test("gives fewer scopes if requested, never more, and all of them again the next time", async () => {
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

  test("is refused for another resource", async () => {
    const { tokens, clientId } = await server.connect();
    const wanted = { resource: "https://other.example.com/mcp" };
    expectRefused(await server.renew(clientId, tokens.refresh_token, wanted), "invalid_target");
  });

  test("is valid for 90 days from its last use, and its rows are deleted then", async () => {
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

test("expired tokens are deleted when new ones are issued", async () => {
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
