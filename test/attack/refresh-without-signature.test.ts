import { afterAll, beforeAll, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Fetched } from "../../src/oauth/clients/document-fetcher.ts";
import {
  answerOf,
  type OAuthServer,
  startOAuthServer,
  tokensOf,
} from "../oauth/support/oauth-server.ts";

const ID = "https://signs.example.com/client.json";
const PUBLIC_ID = "https://public.example.com/client.json";
const REDIRECT_URI = "https://signs.example.com/callback";
const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** Longer than a document may be cached. */
const DAY = 24 * 3_600_000;

const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const documentOf = (id: string, method: string) => ({
  client_id: id,
  client_name: "Example",
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: method,
});
const signing = {
  ...documentOf(ID, "private_key_jwt"),
  jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: "one" }] },
};

/** The documents that are on the web at this time. */
const web = new Map<string, unknown>();
let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer({
    fetchDocument: async ({ href }): Promise<Fetched> => {
      if (!web.has(href)) throw Object.assign(new Error("no way"), { code: "ECONNREFUSED" });
      return { json: web.get(href), maxAge: null };
    },
  });
});
afterAll(() => server.close());

let last = 0;
async function signature() {
  const now = Math.floor(server.clock() / 1000);
  const claims = { iss: ID, sub: ID, aud: server.origin, exp: now + 60, jti: `${++last}` };
  const header = { alg: "ES256", kid: "one" };
  const client_assertion = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  return { client_assertion, client_assertion_type: TYPE };
}

/** Tokens of a user's consent, while the document is reachable. */
async function connect(id: string, document: unknown) {
  web.set(id, document);
  server.clock.advance(DAY);
  const { person } = await server.signedIn();
  const { code = null } = await server.consent(person, id, { redirect_uri: REDIRECT_URI });
  const proof = id === ID ? await signature() : {};
  return tokensOf(await server.redeem(id, code, { redirect_uri: REDIRECT_URI, ...proof }));
}

const takeAway = (id: string) => {
  web.delete(id);
  server.clock.advance(DAY);
};

test("a thief who blocks the document can't refresh without the client's signature", async () => {
  const { refresh_token } = await connect(ID, signing);
  takeAway(ID);
  const stolen = await server.renew(ID, refresh_token);
  expect(stolen).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  const revoked = await server.post("/api/oauth/revoke", { token: refresh_token, client_id: ID });
  expect(revoked.status).toBe(401);
  // The grant remains: the client can refresh when its document is reachable again.
  web.set(ID, signing);
  server.clock.advance(60_000);
  tokensOf(await server.renew(ID, refresh_token, await signature()));
});

test("a thief can't exchange a code without the signature either", async () => {
  web.set(ID, signing);
  server.clock.advance(DAY);
  const { person } = await server.signedIn();
  const page = await person.visit(server.authorizeUrl(ID, { redirect_uri: REDIRECT_URI }));
  // A code is valid for one minute, the cached document for five.
  server.clock.advance(4.5 * 60_000);
  const { code = null } = answerOf(await person.submit(page, { decision: "allow" }));
  web.delete(ID);
  server.clock.advance(45_000);
  const answer = await server.redeem(ID, code, { redirect_uri: REDIRECT_URI });
  expect(answer).toMatchObject({ status: 401, body: { error: "invalid_client" } });
});

test("an app that need not sign can refresh while its document is unreachable", async () => {
  const { refresh_token } = await connect(PUBLIC_ID, documentOf(PUBLIC_ID, "none"));
  takeAway(PUBLIC_ID);
  expect((await server.renew(PUBLIC_ID, refresh_token)).status).toBe(200);
});

test("an app must sign as soon as its document requires signatures", async () => {
  const { refresh_token } = await connect(PUBLIC_ID, documentOf(PUBLIC_ID, "none"));
  web.set(PUBLIC_ID, { ...signing, client_id: PUBLIC_ID });
  server.clock.advance(DAY);
  expect((await server.renew(PUBLIC_ID, refresh_token)).status).toBe(401);
  takeAway(PUBLIC_ID);
  expect((await server.renew(PUBLIC_ID, refresh_token)).status).toBe(401);
});
