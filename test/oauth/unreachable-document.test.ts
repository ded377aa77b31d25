import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { answerOf, startOAuthServer, tokensOf } from "./support/oauth-server.ts";
import { expectRefused } from "./support/token-requests.ts";

const ID = "https://app.example.com/client.json";
const LOCAL = "http://127.0.0.1:41234/callback";
const AT_LOCAL = { redirect_uri: LOCAL };
const DOCUMENT = {
  client_id: ID,
  client_name: "Example",
  redirect_uris: ["http://127.0.0.1/callback"],
};
/** Milliseconds after which every replica requests the document again. */
const CACHED = 5 * 60_000;

/** What the server can read at any address; null while it has no network. */
let published: Record<string, unknown> | null;
const server = await startOAuthServer({
  fetchDocument: async () => {
    if (published) return { json: published, maxAge: null };
    throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
  },
});
afterAll(server.close);
beforeEach(() => publish(null));

function publish(document: Record<string, unknown> | null) {
  published = document;
  server.clock.advance(CACHED);
}

/** A person, and the tokens of a program that they allowed while its document was out of reach. */
async function connectUnverified() {
  const { person, accountId } = await server.signedIn();
  const { code = null } = await server.consent(person, ID, AT_LOCAL);
  const tokens = tokensOf(await server.redeem(ID, code, AT_LOCAL));
  const grants = () => server.oauth.grants.list(accountId);
  return { person, tokens, grants };
}

describe("a client whose metadata document is out of reach", () => {
  test.each([
    LOCAL,
    "http://127.0.0.1/callback",
    "http://localhost:41234/callback",
    "http://[::1]:41234/",
  ])("is an unverified program on the person's computer at %s", async (uri) => {
    const change = { redirect_uri: uri };
    const { person, accountId } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(ID, change));
    const text = page.text.replaceAll(/\s+/g, " ");
    expect(text).toContain("<bdi>app.example.com (not verified)</bdi>");
    expect(text).toContain("<dt>Says it is of</dt> <dd>app.example.com</dd>".replace("> <", "><"));
    expect(text).toContain("app.example.com, so it could not verify the name of the app");
    expect(text).toContain("This is a program on your own computer");
    const { code = null } = answerOf(await person.submit(page, { decision: "allow" }));
    const tokens = tokensOf(await server.redeem(ID, code, change));
    expect(await server.use(tokens.access_token)).toBe(200);
    expect(await server.oauth.grants.list(accountId)).toMatchObject([
      { clientId: ID, clientName: "app.example.com (not verified)" },
    ]);
    expect((await server.renew(ID, tokens.refresh_token)).status).toBe(200);
  });

  test.each([
    "https://app.example.com/callback",
    "https://localhost/callback",
    "https://127.0.0.1/callback",
    "http://localhost.example.com/callback",
    "http://localhost:1@example.com/callback",
    "http://127.0.0.2/callback",
    "http://10.0.0.1/callback",
    "http://LOCALHOST/callback",
    "http://127.0.0.1/callback#x",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    null,
  ])("gets no answer at %s, also from a person who allowed it before", async (redirectUri) => {
    const { person } = await connectUnverified();
    const page = await person.visit(server.authorizeUrl(ID, { redirect_uri: redirectUri }));
    expect({ ...page, text: "" }).toMatchObject({ status: 400, location: null, forms: [] });
    expect(page.text).toMatch(
      /<p>(This server can&#x27;t reach the site|The app asks for)[^<]*\.</,
    );
  });

  test.each([
    { code_challenge: null },
    { code_challenge_method: "plain" },
    { code_challenge_method: null },
  ])("needs PKCE: %j", async (change) => {
    const { person } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(ID, { ...AT_LOCAL, ...change }));
    expect(answerOf(page)).toMatchObject({ error: "invalid_request" });
  });

  test("has no keys, so it can't sign", async () => {
    await connectUnverified();
    const answer = await server.post("/api/oauth/token", {
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: ID,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: "x.y.z",
    });
    expect(answer).toMatchObject({ status: 503, body: { error: "temporarily_unavailable" } });
  });

  test("is not one that is known to sign", async () => {
    const id = "https://signs.example.com/client.json";
    const keys = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{}] } };
    publish({ ...DOCUMENT, ...keys, client_id: id });
    const { person } = await server.signedIn();
    await server.consent(person, id, AT_LOCAL);
    publish(null);
    const { person: other } = await server.signedIn();
    const page = await other.visit(server.authorizeUrl(id, AT_LOCAL));
    expect({ ...page, text: "" }).toMatchObject({ status: 400, location: null, forms: [] });
  });

  test("asks again when the person was shown its verified name", async () => {
    publish(DOCUMENT);
    const { person } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(ID, AT_LOCAL));
    expect(page.text).not.toContain("not verified");
    publish(null);
    const again = await person.submit(page, { decision: "allow" });
    expect(again).toMatchObject({ status: 200, location: null });
    expect(again.text).toContain("not verified");
    expect(answerOf(await person.submit(again, { decision: "allow" })).code).toStartWith("ctxc_");
  });
});

describe("when the document can be read,", () => {
  test("its name replaces the unverified one, and the tokens stay", async () => {
    const { tokens, grants } = await connectUnverified();
    publish(DOCUMENT);
    const renewed = tokensOf(await server.renew(ID, tokens.refresh_token));
    expect(await server.use(renewed.access_token)).toBe(200);
    expect(await grants()).toMatchObject([{ clientName: "Example", revokedAt: null }]);
  });

  test("a program that it does not allow loses its access", async () => {
    const { tokens, grants } = await connectUnverified();
    publish({ ...DOCUMENT, redirect_uris: ["https://app.example.com/callback"] });
    expectRefused(await server.renew(ID, tokens.refresh_token));
    expect(await server.use(tokens.access_token)).toBe(401);
    expect(await grants()).toMatchObject([
      { clientName: "app.example.com (not verified)", revokedAt: expect.any(Date) },
    ]);
  });

  test("a program that does not sign loses its access if the app has to", async () => {
    const { tokens } = await connectUnverified();
    publish({ ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{}] } });
    const answer = await server.renew(ID, tokens.refresh_token);
    expect(answer).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  });
});
