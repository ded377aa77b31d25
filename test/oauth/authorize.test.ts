import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  answerOf,
  type OAuthServer,
  type Parameters,
  REDIRECT_URI,
  startOAuthServer,
  tokensOf,
} from "./support/oauth-server.ts";
import type { Person } from "./support/person.ts";

let server: OAuthServer;
let person: Person;
let accountId: string;
beforeAll(async () => {
  server = await startOAuthServer();
  ({ person, accountId } = await server.signedIn());
});
afterAll(() => server.close());
// One address may register one client a minute.
beforeEach(async () => {
  server.clock.advance(60_000);
  await server.sessions.prove(person.jar.get("ctxd-session") ?? "");
});

const visit = async (clientId: string, changes: Parameters = {}) =>
  person.visit(server.authorizeUrl(clientId, changes));

describe("an unregistered redirect URI receives nothing:", () => {
  test.each([
    "https://app.example.com/callback/",
    "https://app.example.com/callback/../callback",
    "https://app.example.com/callback?x=1",
    "https://app.example.com/callback#x",
    "https://app.example.com/%63allback",
    "https://app.example.com/Callback",
    "https://APP.example.com/callback",
    "https://app.example.com:443/callback",
    "https://app.example.com:8443/callback",
    "https://app.example.com@evil.example.com/callback",
    "https://user@app.example.com/callback",
    "https://app.example.com.evil.example.com/callback",
    "https://app.example.com\\@evil.example.com/callback",
    "https://app.example.com/callback\t",
    " https://app.example.com/callback",
    "http://app.example.com/callback",
    "//app.example.com/callback",
    "javascript:alert(1)",
    "http://127.0.0.1:8080/other",
    "http://127.0.0.1.evil.example.com/callback",
    "http://127.0.0.1:80@evil.example.com/callback",
    "http://[::1]:8080/callback",
    "http://localhost:8080/callback",
    "https://127.0.0.1:8080/callback",
    "http://127.0.0.2/callback",
    "http://0177.0.0.1/callback",
    "http://2130706433/callback",
  ])("%s", async (redirectUri) => {
    const { client_id: clientId } = await server.register({
      redirect_uris: [REDIRECT_URI, "http://127.0.0.1/callback"],
    });
    const page = await visit(clientId, { redirect_uri: redirectUri });
    expect({ status: page.status, location: page.location }).toEqual({
      status: 400,
      location: null,
    });
    expect(page.text).not.toContain("evil.example.com");
    expect(page.forms).toEqual([]);
  });
});

describe("an app that the user binds to a project", () => {
  test("stays bound when it receives new tokens, and the page of apps shows the project", async () => {
    const bound = { project: "Öl & Gas", only: true };
    const entered = { bound_project: ` ${bound.project} `, bound_only: "true" };
    const connected = await server.connect({}, entered);
    const renewed = tokensOf(
      await server.renew(connected.clientId, connected.tokens.refresh_token),
    );
    for (const { access_token: token } of [connected.tokens, renewed]) {
      expect(await server.oauth.tokens.authenticate(token)).toMatchObject({ bound });
      const saved = await fetch(`${server.origin}/api/memories`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "by the app" }),
      });
      expect(await saved.json()).toMatchObject({ project: bound.project });
    }
    expect(await server.use(renewed.access_token)).toBe(200);
    const apps = await connected.person.visit("/agents");
    expect(apps.text).toContain("<bdi>Öl &amp; Gas only</bdi>");
  });

  test("receives no grant if the form excludes other memories without naming a project", async () => {
    const { client_id: clientId } = await server.register();
    const page = await visit(clientId);
    const refused = await person.submit(page, { decision: "allow", bound_only: "true" });
    expect(refused).toMatchObject({ status: 422, location: null });
    expect(await server.oauth.grants.list(accountId)).toEqual([]);
  });
});

test("a redirect URI on this computer may have any port, also if one was registered", async () => {
  const { client_id: clientId } = await server.register({
    redirect_uris: ["http://127.0.0.1:33418/", "http://localhost/callback", "http://[::1]:1/x?y=z"],
  });
  for (const redirectUri of [
    "http://127.0.0.1/",
    "http://127.0.0.1:50123/",
    "http://localhost:50123/callback",
    "http://[::1]:50123/x?y=z",
  ]) {
    const page = await visit(clientId, { redirect_uri: redirectUri });
    expect(page.text).toContain("on your own computer");
    const { location } = await person.submit(page, { decision: "allow" });
    expect(location).toStartWith(redirectUri);
    expect(answerOf(await person.submit(page, { decision: "allow" }))).toHaveProperty("code");
  }
});

test("a client with one redirect URI may omit it, a client with two must name one", async () => {
  const one = await server.register();
  expect((await visit(one.client_id, { redirect_uri: null })).status).toBe(200);
  const two = await server.register({ redirect_uris: [REDIRECT_URI, `${REDIRECT_URI}/2`] });
  expect((await visit(two.client_id, { redirect_uri: null })).status).toBe(400);
});

test("the page of an unknown client says what to do", async () => {
  for (const clientId of ["client_gone", ""]) {
    const page = await visit(clientId);
    expect(page.status).toBe(400);
    expect(page.location).toBeNull();
    expect(page.text).toContain("add it again");
  }
});

describe("a client receives the error of a bad request:", () => {
  test.each([
    ["plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["no method, which means plain", { code_challenge_method: null }, "invalid_request"],
    ["no challenge", { code_challenge: null }, "invalid_request"],
    ["a challenge that is none", { code_challenge: "short" }, "invalid_request"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["a hybrid flow", { response_type: "code id_token" }, "unsupported_response_type"],
    ["no response type", { response_type: null }, "invalid_request"],
    ["the answer in a fragment", { response_mode: "fragment" }, "invalid_request"],
    ["another resource", { resource: "https://other.example.com/mcp" }, "invalid_target"],
    ["a resource with a fragment", { resource: "http://localhost/mcp#x" }, "invalid_target"],
    ["only unknown scopes", { scope: "admin" }, "invalid_scope"],
    ["a request object", { request: "e30.e30." }, "request_not_supported"],
    [
      "a request by reference",
      { request_uri: "https://x.example.com" },
      "request_uri_not_supported",
    ],
  ])("%s", async (_, change, error) => {
    // An error may be sent to this computer without consent.
    const redirectUri = "http://127.0.0.1:8080/callback";
    const { client_id: clientId } = await server.register({ redirect_uris: [redirectUri] });
    const page = await visit(clientId, { redirect_uri: redirectUri, ...change });
    expect(page.status).toBe(303);
    expect(page.location).toStartWith(`${redirectUri}?`);
    expect(answerOf(page)).toEqual({
      error,
      error_description: expect.stringMatching(/^.{5,200}\.$/),
      state: "some state",
      iss: server.origin,
    });
  });

  test("but a person is not redirected to a site without consent", async () => {
    const { client_id: clientId } = await server.register();
    const first = await visit(clientId, { scope: "admin" });
    expect({ status: first.status, location: first.location }).toEqual({
      status: 400,
      location: null,
    });
    expect(first.text).toContain("Tell app.example.com");
    await server.consent(person, clientId);
    expect(answerOf(await visit(clientId, { scope: "admin" })).error).toBe("invalid_scope");
  });
});

test("every answer names its issuer, so that clients can detect answers of other servers", async () => {
  const { client_id: clientId } = await server.register();
  const page = await visit(clientId, { state: "<&\"' %" });
  expect(answerOf(await person.submit(page, { decision: "allow" }))).toEqual({
    code: expect.stringMatching(/^ctxc_/),
    state: "<&\"' %",
    iss: server.origin,
  });
  expect(answerOf(await person.submit(page, { decision: "deny" }))).toEqual({
    error: "access_denied",
    state: "<&\"' %",
    iss: server.origin,
  });
  const withoutState = await visit(clientId, { state: null });
  const answer = answerOf(await person.submit(withoutState, { decision: "allow" }));
  expect(Object.keys(answer).sort()).toEqual(["code", "iss"]);
});

test("a resource may have a final slash or capitals, be the origin, or be missing", async () => {
  const { client_id: clientId } = await server.register();
  const { origin } = server;
  const named = [`${origin}/mcp`, `${origin}/mcp/`, origin, `${origin}/`, null];
  for (const resource of [...named, `${origin.replace("http", "HTTP")}/mcp`]) {
    const { code = null } = await server.consent(person, clientId, { resource });
    const tokens = tokensOf(await server.redeem(clientId, code, { resource }));
    expect(await server.use(tokens.access_token)).toBe(200);
  }
});

describe("scopes:", () => {
  const granted = async (scope: string | null, allowed?: string[]) => {
    const { client_id: clientId } = await server.register();
    const page = await visit(clientId, { scope });
    const fields = allowed === undefined ? {} : { allowed_scope: allowed };
    const answer = answerOf(await person.submit(page, { decision: "allow", ...fields }));
    if (answer.error !== undefined) return answer.error;
    return tokensOf(await server.redeem(clientId, answer.code ?? null)).scope;
  };

  test.each([
    [null, "memories:read memories:write"],
    ["", "memories:read memories:write"],
    ["offline_access", "memories:read memories:write"],
    ["memories:read", "memories:read"],
    ["memories:write memories:read offline_access unknown", "memories:read memories:write"],
    ["memories:add", "memories:add"],
    // `memories:write` implies `memories:add`.
    ["memories:read memories:write memories:add", "memories:read memories:write"],
  ])("%j gives %s", async (asked, given) => {
    expect(await granted(asked)).toBe(given);
  });

  test("a user may allow fewer scopes than requested, but at least one", async () => {
    expect(await granted(null, ["memories:read"])).toBe("memories:read");
    expect(await granted(null, [])).toBe("access_denied");
  });

  test("a manipulated form grants no more than was requested", async () => {
    expect(await granted("memories:read", ["memories:read", "memories:write"])).toBe(
      "memories:read",
    );
    expect(await granted("memories:add", ["memories:write"])).toBe("access_denied");
  });
});
