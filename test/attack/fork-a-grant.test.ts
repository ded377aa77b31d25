import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { refreshAuthorization } from "@modelcontextprotocol/sdk/client/auth.js";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createRandom } from "../support/random.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

interface Answer {
  readonly status: number;
  readonly access: string | null;
  readonly refresh: string | null;
}

async function renew(clientId: string, refreshToken: string): Promise<Answer> {
  const { status, body } = await server.renew(clientId, refreshToken);
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const { access_token, refresh_token } = Object(body);
  return { status, access: text(access_token), refresh: text(refresh_token) };
}

/** Unused refresh tokens of valid grants. */
async function unusedRefreshTokens(accountId: string): Promise<number> {
  const grants = await server.oauth.grants.list(accountId);
  const held = grants.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);
  const tokens = (await server.rows("oauth_tokens")).map(Object);
  const unused = tokens.filter(
    ({ kind, used_at: usedAt }) => kind === "refresh" && usedAt === null,
  );
  return unused.filter(({ grant_id: grantId }) => held.includes(grantId)).length;
}

const isRevoked = async (accountId: string) =>
  (await server.oauth.grants.list(accountId)).every(({ revokedAt }) => revokedAt !== null);

test("a thief who repeats a refresh gets no refresh token", async () => {
  const { tokens, clientId, accountId } = await server.connect();
  const owner = await renew(clientId, tokens.refresh_token);
  expect(owner.refresh).not.toBeNull();
  for (const wait of [0, 1_000, MINUTE - 2_000]) {
    server.clock.advance(wait);
    const thief = await renew(clientId, tokens.refresh_token);
    expect(thief).toMatchObject({ status: 200, refresh: null });
    expect(await unusedRefreshTokens(accountId)).toBe(1);
  }
});

test("if a thief and the owner refresh at the same time, one of them gets a refresh token", async () => {
  const { tokens, clientId, accountId } = await server.connect();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => renew(clientId, tokens.refresh_token)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(answers.filter(({ refresh }) => refresh !== null)).toHaveLength(1);
  expect(await unusedRefreshTokens(accountId)).toBe(1);
});

test("a thief who refreshes first loses access when the owner refreshes", async () => {
  const { tokens, clientId, accountId } = await server.connect();
  const owner = await renew(clientId, tokens.refresh_token);
  await renew(clientId, tokens.refresh_token);
  server.clock.advance(HOUR);
  const thief = await renew(clientId, tokens.refresh_token);
  server.clock.advance(2 * MINUTE);
  expect((await renew(clientId, owner.refresh ?? "")).status).toBe(400);
  expect(await isRevoked(accountId)).toBe(true);
  expect(await server.use(thief.access ?? "")).toBe(401);
  expect((await renew(clientId, thief.refresh ?? "")).status).toBe(400);
});

test("a thief who refreshes after the owner's next refresh ends the grant", async () => {
  const { tokens, clientId, accountId } = await server.connect();
  const owner = await renew(clientId, tokens.refresh_token);
  await renew(clientId, tokens.refresh_token);
  server.clock.advance(HOUR);
  await renew(clientId, owner.refresh ?? "");
  server.clock.advance(2 * MINUTE);
  expect((await renew(clientId, tokens.refresh_token)).status).toBe(400);
  expect(await isRevoked(accountId)).toBe(true);
});

test("in no order of requests can two clients keep refreshing the same grant", async () => {
  const { next, pick } = createRandom(7);
  for (let round = 0; round < 20; round++) {
    const { tokens, clientId, accountId } = await server.connect();
    // Two clients with a copy each. Sometimes one of them sends an older token.
    const held: [string, string] = [tokens.refresh_token, tokens.refresh_token];
    const all = [tokens.refresh_token];
    for (let step = 0; step < 12; step++) {
      server.clock.advance(pick([0, 500, 30_000, MINUTE, 2 * MINUTE, HOUR]) ?? 0);
      const party = next() < 0.5 ? 0 : 1;
      const presented = next() < 0.8 ? held[party] : (pick(all) ?? "");
      const { refresh } = await renew(clientId, presented);
      if (refresh !== null) {
        held[party] = refresh;
        all.push(refresh);
      }
      expect(await unusedRefreshTokens(accountId)).toBeLessThanOrEqual(1);
    }
    // One client refreshes alone, and then the other, each with its own token.
    server.clock.advance(2 * MINUTE);
    const first = await renew(clientId, held[0]);
    server.clock.advance(2 * MINUTE);
    const second = await renew(clientId, held[1]);
    server.clock.advance(2 * MINUTE);
    const again = await renew(clientId, first.refresh ?? held[0]);
    if (held[0] === held[1]) continue;
    expect([first, second, again].some(({ status }) => status !== 200)).toBe(true);
  }
});

describe("sessions of one client that share their stored tokens", () => {
  /** Like the SDK's client, which keeps its refresh token if the answer contains none. */
  const refresh = async (clientId: string, refreshToken: string) =>
    await refreshAuthorization(server.origin, {
      metadata: {
        issuer: server.origin,
        authorization_endpoint: `${server.origin}/api/oauth/authorize`,
        token_endpoint: `${server.origin}/api/oauth/token`,
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: ["none"],
      },
      clientInformation: { client_id: clientId, redirect_uris: [] },
      refreshToken,
    });

  test.each([
    ["the first answer is written first", [0, 1, 2]],
    ["the first answer is written last", [2, 1, 0]],
    ["the first answer is lost", [1, 2]],
  ])("go on for days when %s", async (_, order) => {
    const { tokens, clientId, accountId } = await server.connect();
    let stored = tokens.refresh_token;
    for (let hour = 0; hour < 48; hour++) {
      const answers = [];
      for (let session = 0; session < 3; session++) {
        server.clock.advance(2_000);
        answers.push(await refresh(clientId, stored));
      }
      for (const index of order) stored = answers[index]?.refresh_token ?? "";
      for (const { access_token } of answers) expect(await server.use(access_token)).toBe(200);
      expect(await unusedRefreshTokens(accountId)).toBe(1);
      server.clock.advance(HOUR);
    }
  });
});
