import { afterAll, beforeAll, expect, test } from "bun:test";
import { REPLICAS } from "../support/replicas.ts";
import {
  answerOf,
  challengeOf,
  type OAuthServer,
  REDIRECT_URI,
  startOAuthServer,
  tokensOf,
} from "./support/oauth-server.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

/** A new code from a user's consent to a client. */
async function freshCode() {
  const { client_id: clientId } = await server.register();
  const { person, accountId } = await server.signedIn();
  const { code = null } = await server.consent(person, clientId);
  return { clientId, code, person, accountId };
}

function expectRefused(answer: { status: number; body: unknown }, error = "invalid_grant") {
  expect(answer.body).toEqual({ error, error_description: expect.stringMatching(/^.{5,200}\.$/) });
  expect(answer.status).toBe(error === "invalid_client" ? 401 : 400);
}

test("a code that is used twice ends its tokens", async () => {
  const { clientId, code } = await freshCode();
  const tokens = tokensOf(await server.redeem(clientId, code));
  expect(await server.use(tokens.access_token)).toBe(200);
  expectRefused(await server.redeem(clientId, code));
  expect(await server.use(tokens.access_token)).toBe(401);
  expectRefused(await server.renew(clientId, tokens.refresh_token));
});

test("if a code is exchanged several times at once, one exchange gets tokens, and the others revoke them", async () => {
  const { clientId, code } = await freshCode();
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.redeem(clientId, code)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  expect(await server.use(tokensOf(won[0] ?? { body: null }).access_token)).toBe(401);
});

test.each([
  ["no verifier", { code_verifier: null }, "invalid_request"],
  ["another verifier", { code_verifier: "w".repeat(43) }, "invalid_grant"],
  ["the challenge as verifier", { code_verifier: challengeOf("v".repeat(43)) }, "invalid_grant"],
  ["a verifier that is too short", { code_verifier: "v".repeat(42) }, "invalid_grant"],
  ["another redirect_uri", { redirect_uri: `${REDIRECT_URI}/` }, "invalid_grant"],
  ["another resource", { resource: "https://other.example.com/mcp" }, "invalid_target"],
  ["another grant type", { grant_type: "client_credentials" }, "unsupported_grant_type"],
  ["no grant type", { grant_type: null }, "invalid_request"],
  ["no client", { client_id: null }, "invalid_client"],
  ["an unknown client", { client_id: "client_unknown" }, "invalid_client"],
])(
  "a stolen code is worth nothing with %s, and still holds for its client",
  async (_, change, error) => {
    const { clientId, code } = await freshCode();
    expectRefused(await server.redeem(clientId, code, change), error);
    expect((await server.redeem(clientId, code)).status).toBe(200);
  },
);

test("a client can't use the code of another client", async () => {
  const { clientId, code } = await freshCode();
  const thief = await server.register();
  expectRefused(await server.redeem(thief.client_id, code));
  expectRefused(await server.redeem("https://thief.example.com/client.json", code));
  expect((await server.redeem(clientId, code)).status).toBe(200);
});

test("a code is valid for a minute", async () => {
  const { clientId, code } = await freshCode();
  server.clock.advance(59_999);
  const inTime = await freshCode();
  expect((await server.redeem(clientId, code)).status).toBe(200);
  server.clock.advance(60_000);
  expectRefused(await server.redeem(inTime.clientId, inTime.code));
});

test("changing the clock makes no code valid again", async () => {
  const [before, after] = [await freshCode(), await freshCode()];
  server.clock.advance(-24 * 3_600_000);
  expect((await server.redeem(before.clientId, before.code)).status).toBe(200);
  expectRefused(await server.redeem(before.clientId, before.code));
  server.clock.advance(365 * 24 * 3_600_000);
  expectRefused(await server.redeem(after.clientId, after.code));
  const fresh = await freshCode();
  expect((await server.redeem(fresh.clientId, fresh.code)).status).toBe(200);
});

test("a repeated parameter is refused", async () => {
  const { clientId, code } = await freshCode();
  const body = `grant_type=authorization_code&client_id=${clientId}&code=${code}&code=${code}&code_verifier=${"v".repeat(43)}`;
  const response = await fetch(`${server.origin}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body,
  });
  expectRefused({ status: response.status, body: await response.json() }, "invalid_request");
});

test.each([
  ["JSON", "application/json", "{}"],
  ["a form that is too large", "application/x-www-form-urlencoded", "x".repeat(70_000)],
  ["a form that is not UTF-8", "application/x-www-form-urlencoded", new Uint8Array([0xff])],
])("the token endpoint answers %s by OAuth's rules", async (_, type, body) => {
  const response = await fetch(`${server.origin}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": type },
    body,
  });
  expect([400, 413]).toContain(response.status);
  expect(await response.json()).toMatchObject({ error: "invalid_request" });
});

test("a client with a secret must send it, in the header or in the body", async () => {
  for (const method of ["client_secret_post", "client_secret_basic", undefined]) {
    const { client_id: clientId, client_secret: secret = "" } = await server.register({
      token_endpoint_auth_method: method,
    });
    expect(secret).toMatch(/^ctxs_[\w-]{43}$/);
    const { person } = await server.signedIn();
    const basic = (password: string) => ({
      authorization: `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(password)}`)}`,
    });
    const { code = null } = await server.consent(person, clientId);
    expectRefused(await server.redeem(clientId, code), "invalid_client");
    expectRefused(await server.redeem(clientId, code, { client_secret: "x" }), "invalid_client");
    const wrong = await server.redeem(clientId, code, { client_id: null }, basic("wrong"));
    expectRefused(wrong, "invalid_client");
    expect(wrong.headers.get("www-authenticate")).toBe('Basic realm="ctxd"');
    const both = await server.redeem(clientId, code, { client_secret: secret }, basic(secret));
    expectRefused(both, "invalid_request");
    expect((await server.redeem(clientId, code, { client_secret: secret })).status).toBe(200);
    const { code: next = null } = await server.consent(person, clientId);
    expect((await server.redeem(clientId, next, { client_id: null }, basic(secret))).status).toBe(
      200,
    );
  }
});

test("a client without a secret may send an empty one, in the header or in the body", async () => {
  const { clientId, code } = await freshCode();
  const basic = { authorization: `Basic ${btoa(`${clientId}:`)}` };
  expect((await server.redeem(clientId, code, { client_id: null }, basic)).status).toBe(200);
  const other = await freshCode();
  const empty = await server.redeem(other.clientId, other.code, { client_secret: "" });
  expect(empty.status).toBe(200);
});

test.skipIf(REPLICAS > 1)("codes, tokens and secrets are in no file", async () => {
  const { client_id: clientId, client_secret: secret = "" } = await server.register({
    token_endpoint_auth_method: "client_secret_post",
  });
  const { person } = await server.signedIn();
  const { code = "" } = await server.consent(person, clientId);
  const unused = answerOf(
    await person.submit(await person.visit(server.authorizeUrl(clientId)), { decision: "allow" }),
  );
  const tokens = tokensOf(await server.redeem(clientId, code, { client_secret: secret }));
  const session = person.jar.get("ctxd-session") ?? "";
  server.db.truncateLog();
  const file = await Bun.file(`${server.folder}/ctxd.db`).text();
  const log = await Bun.file(`${server.folder}/ctxd.db-wal`).text();
  const secrets = [secret, code, unused.code, tokens.access_token, tokens.refresh_token, session];
  for (const each of secrets) {
    expect(each?.length).toBeGreaterThan(40);
    expect(file + log).not.toContain(each ?? "");
  }
  expect(file).toContain(clientId);
});
