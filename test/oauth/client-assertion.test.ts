import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import type { Fetched } from "../../src/oauth/clients/document-fetcher.ts";
import { type OAuthServer, startOAuthServer, tokensOf } from "./support/oauth-server.ts";

const ID = "https://chatgpt.com/oauth/AbC123/client.json";
const BOTH_ID = "https://both.example.com/client.json";
const INLINE_ID = "https://inline.example.com/client.json";
const REDIRECT_URI = "https://chatgpt.com/connector/oauth/AbC123";
const KEYS = "https://chatgpt.com/oauth/jwks.json";
const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

const own = await generateKeyPair("RS256", { extractable: true });
const next = await generateKeyPair("ES256", { extractable: true });
const stranger = await generateKeyPair("RS256", { extractable: true });
const jwk = async ({ publicKey }: typeof own, kid: string) => ({
  ...(await exportJWK(publicKey)),
  kid,
});

/** Like ChatGPT's document, which allows only signing. */
const document = {
  client_id: ID,
  client_name: "ChatGPT",
  redirect_uris: [REDIRECT_URI],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "private_key_jwt",
  token_endpoint_auth_signing_alg: "RS256",
  jwks_uri: KEYS,
};
const pages: Record<string, unknown> = {
  [ID]: document,
  [BOTH_ID]: {
    ...document,
    client_id: BOTH_ID,
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  },
  [INLINE_ID]: {
    ...document,
    client_id: INLINE_ID,
    jwks_uri: undefined,
    jwks: { keys: [await jwk(next, "inline")] },
  },
  [KEYS]: { keys: [await jwk(own, "first")] },
};

let server: OAuthServer;
/** The addresses that the server has requested. */
const fetched: string[] = [];
beforeAll(async () => {
  server = await startOAuthServer({
    fetchDocument: async ({ href }): Promise<Fetched> => {
      fetched.push(href);
      if (!pages[href]) throw new Error("there is nothing");
      return { json: pages[href], maxAge: null };
    },
  });
});
afterAll(() => server.close());

/** A person's consent to a client, as a code. */
async function code(clientId = ID): Promise<string | null> {
  const { person } = await server.signedIn();
  return (await server.consent(person, clientId, { redirect_uri: REDIRECT_URI })).code ?? null;
}

let last = 0;
const seconds = () => Math.floor(server.clock() / 1000);
const claims = (changes: Record<string, unknown> = {}): JWTPayload => ({
  iss: ID,
  sub: ID,
  aud: `${server.origin}/api/oauth/token`,
  exp: seconds() + 300,
  iat: seconds(),
  jti: `${++last}`,
  ...changes,
});
const sign = (
  changes: Record<string, unknown> = {},
  { alg = "RS256", kid = "first", key = own.privateKey } = {},
) => new SignJWT(claims(changes)).setProtectedHeader({ alg, kid }).sign(key);

const redeem = (presented: string | null, assertion: string | null, changes = {}) =>
  server.redeem(ID, presented, {
    redirect_uri: REDIRECT_URI,
    client_assertion: assertion,
    client_assertion_type: assertion && TYPE,
    ...changes,
  });

test("the metadata announces signed assertions and their algorithms", async () => {
  const metadata = await fetch(`${server.origin}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).toMatchObject({
    token_endpoint_auth_methods_supported: expect.arrayContaining(["none", "private_key_jwt"]),
    token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(["RS256", "ES256"]),
  });
});

test("a client that signs gets, renews and revokes tokens", async () => {
  const tokens = tokensOf(await redeem(await code(), await sign()));
  expect(await server.use(tokens.access_token)).toBe(200);
  const signed = async () => ({ client_assertion: await sign(), client_assertion_type: TYPE });
  const renewed = tokensOf(await server.renew(ID, tokens.refresh_token, await signed()));
  expect(await server.renew(ID, renewed.refresh_token)).toMatchObject({
    status: 401,
    body: { error: "invalid_client" },
  });
  // The id is in the assertion already (RFC 7521, section 4.2).
  const body = { token: renewed.access_token, ...(await signed()) };
  expect((await server.post("/api/oauth/revoke", body)).status).toBe(200);
  expect(await server.use(renewed.access_token)).toBe(401);
});

test.each([
  ["the issuer", () => server.origin],
  ["the issuer, as one of several", () => [server.origin, "https://other.example.com"]],
  ["the token endpoint that a client guesses", () => `${server.origin}/token`],
])("an assertion may be for %s", async (_, aud) => {
  tokensOf(await redeem(await code(), await sign({ aud: aud() })));
});

describe("no tokens are given for an assertion that", () => {
  test.each<[string, () => Promise<string>]>([
    ["is of another client", () => sign({ iss: BOTH_ID, sub: BOTH_ID })],
    ["is by another client about this one", () => sign({ iss: BOTH_ID })],
    ["is for another server", () => sign({ aud: "https://other.example.com" })],
    ["is for nobody", () => sign({ aud: undefined })],
    ["has expired", () => sign({ exp: seconds() - 120 })],
    ["never expires", () => sign({ exp: undefined })],
    ["holds for a day", () => sign({ exp: seconds() + 86_400 })],
    ["does not hold yet", () => sign({ nbf: seconds() + 600 })],
    ["a stranger has signed", () => sign({}, { key: stranger.privateKey })],
    ["is not signed", async () => new UnsecuredJWT(claims()).encode()],
    [
      "is signed with the public key as a secret",
      async () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: "HS256", kid: "first" })
          .sign(new TextEncoder().encode(JSON.stringify(await exportJWK(own.publicKey)))),
    ],
    ["is none", async () => "not.a.token"],
    ["is empty", async () => ""],
  ])("%s", async (_, make) => {
    const presented = await code();
    const answer = await redeem(presented, await make());
    expect(answer.status).toBeOneOf([400, 401]);
    expect(answer.body).not.toHaveProperty("access_token");
    // The code remains valid.
    tokensOf(await redeem(presented, await sign()));
  });

  test("has been used before", async () => {
    const assertion = await sign();
    tokensOf(await redeem(await code(), assertion));
    expect((await redeem(await code(), assertion)).status).toBe(401);
  });

  test("comes with a secret, or has another assertion type", async () => {
    const changes = [{ client_secret: "x" }, { client_assertion_type: "urn:other" }];
    for (const change of changes) {
      expect((await redeem(await code(), await sign(), change)).status).toBe(400);
    }
    const basic = { authorization: `Basic ${btoa(`${encodeURIComponent(ID)}:x`)}` };
    const signed = { client_assertion: await sign(), client_assertion_type: TYPE };
    expect((await server.redeem(ID, await code(), signed, basic)).status).toBe(400);
  });

  test("is of a client that has no keys", async () => {
    const { client_id: id } = await server.register();
    const assertion = await sign({ iss: id, sub: id });
    const { status } = await redeem(await code(), assertion, { client_id: id });
    expect(status).toBe(401);
  });
});

test("a client may sign or not if its document allows both", async () => {
  for (const assertion of [null, await sign({ iss: BOTH_ID, sub: BOTH_ID })]) {
    tokensOf(await redeem(await code(BOTH_ID), assertion, { client_id: BOTH_ID }));
  }
  const wrong = await sign({ iss: BOTH_ID, sub: BOTH_ID }, { key: stranger.privateKey });
  const answer = await redeem(await code(BOTH_ID), wrong, { client_id: BOTH_ID });
  expect(answer.status).toBe(401);
});

test("a document may contain the keys", async () => {
  const key = { alg: "ES256", kid: "inline", key: next.privateKey };
  const assertion = await sign({ iss: INLINE_ID, sub: INLINE_ID }, key);
  tokensOf(await redeem(await code(INLINE_ID), assertion, { client_id: INLINE_ID }));
});

test("new keys are requested, and while they are unreachable the client is asked to try again", async () => {
  const key = { alg: "ES256", kid: "second", key: next.privateKey };
  const presented = await code();
  expect((await redeem(presented, await sign({}, key))).status).toBe(401);
  server.clock.advance(2 * 60_000);
  const keys = pages[KEYS];
  pages[KEYS] = undefined;
  const late = await code();
  expect((await redeem(late, await sign({}, key))).status).toBe(503);
  pages[KEYS] = { keys: [await jwk(own, "first"), await jwk(next, "second")] };
  tokensOf(await redeem(late, await sign({}, key)));
  pages[KEYS] = keys;
});

test("an assertion can't make the server request another address", async () => {
  const id = "https://victim.example.com/client.json";
  const client_assertion = await sign({ iss: id, sub: id });
  for (const proof of [{}, { client_assertion, client_assertion_type: TYPE }]) {
    expect((await server.redeem(id, "made-up", proof)).status).toBeOneOf([400, 401]);
    const body = { token: "made-up", client_id: id, ...proof };
    expect((await server.post("/api/oauth/revoke", body)).status).toBeOneOf([200, 401]);
  }
  expect(fetched).not.toContain(id);
});
