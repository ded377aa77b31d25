import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { ANSWER, CLIENT, PROOFS, startScriptedProvider } from "./support/scripted-provider.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const UNAVAILABLE = { code: "unavailable" };

const script = startScriptedProvider();
const elsewhere = startScriptedProvider();
beforeEach(() => {
  script.reset();
  elsewhere.reset();
});
afterAll(() => Promise.all([script.stop(), elsewhere.stop()]));

const finish = (answer = ANSWER) => script.connect().finish(answer, PROOFS);
const start = () => script.connect().start("state", PROOFS);
const paths = () => script.requests.map(({ path }) => path);

test("the server sends the secret, the code and the verifier to the token endpoint", async () => {
  await finish();
  const request = script.requests.find(({ path }) => path === "/token");
  const { clientId, clientSecret } = CLIENT;
  expect(request?.authorization).toBe(`Basic ${btoa(`${clientId}:${clientSecret}`)}`);
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
    grant_type: "authorization_code",
    code: "code",
    code_verifier: PROOFS.verifier,
    redirect_uri: "http://localhost/sign-in/with/oidc/callback",
  });
});

test("metadata of another issuer is not used", async () => {
  script.publish({ issuer: elsewhere.at });
  await expect(start()).rejects.toMatchObject(UNAVAILABLE);
  await expect(finish()).rejects.toMatchObject(UNAVAILABLE);
  expect(paths()).toEqual([CONFIGURATION, CONFIGURATION]);
});

test.each([undefined, "nowhere", "javascript:alert(1)", "file:///etc/passwd", 7])(
  "a browser is not sent to the endpoint %p",
  async (authorization_endpoint) => {
    script.publish({ authorization_endpoint });
    await expect(start()).rejects.toMatchObject(UNAVAILABLE);
  },
);

test.each([undefined, "nowhere", "file:///etc/passwd", 7])(
  "no code is redeemed at the endpoint %p",
  async (token_endpoint) => {
    script.publish({ token_endpoint });
    await expect(finish()).rejects.toMatchObject(UNAVAILABLE);
    expect(paths()).toEqual([CONFIGURATION]);
  },
);

test("the next sign-in requests failed metadata again", async () => {
  const provider = script.connect();
  script.publish({ issuer: elsewhere.at });
  await expect(provider.start("state", PROOFS)).rejects.toMatchObject(UNAVAILABLE);
  script.publish();
  expect((await provider.start("state", PROOFS)).pathname).toBe("/authorize");
});

describe("a redirect is not followed", () => {
  test.each([CONFIGURATION, "/token", "/userinfo"])("from %s", async (path) => {
    script.grant({ email: undefined });
    elsewhere.json("/userinfo", { sub: "you", email: "you@example.com", email_verified: true });
    script.answer(path, () => Response.redirect(elsewhere.at + path, 307));
    await expect(finish()).rejects.toMatchObject(UNAVAILABLE);
    expect(paths()).toContain(path);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("a request to a provider fails after the time limit", () => {
  const silent = () => new Promise<Response>(() => {});
  const endless = () => {
    const body = new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from("{")) });
    return new Response(body, { headers: { "content-type": "application/json" } });
  };

  test.each([
    ["does not answer for its metadata", CONFIGURATION, silent],
    ["does not answer for a code", "/token", silent],
    ["does not end its answer", "/token", endless],
  ])("when it %s", async (_, path, answer) => {
    script.answer(path, answer);
    const finished = script.connect(200).finish(ANSWER, PROOFS);
    await expect(finished).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("an answer is refused before its code is redeemed", () => {
  const from = (issuer: string) => new URLSearchParams({ code: "code", iss: issuer });

  test("that comes from another issuer (RFC 9207)", async () => {
    await expect(finish(from(elsewhere.at))).rejects.toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
    expect(await finish(from(script.at))).toMatchObject({ subject: "you" });
  });

  test("without an issuer, although the provider announces one", async () => {
    script.publish({ authorization_response_iss_parameter_supported: true });
    await expect(finish()).rejects.toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
  });

  test("with an error beside the code", async () => {
    const answer = new URLSearchParams({ code: "code", error: "access_denied" });
    await expect(finish(answer)).rejects.toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
  });
});

test.each<[string, () => Response]>([
  ["HTML", () => new Response("<p>Sign in</p>", { headers: { "content-type": "text/html" } })],
  ["no tokens", () => Response.json({})],
  ["a list", () => Response.json([])],
  ["an error with status 200", () => Response.json({ error: "invalid_grant" })],
  ["an error with status 400", () => Response.json({ error: "invalid_grant" }, { status: 400 })],
  ["a token without an ID token", () => Response.json({ access_token: "a", token_type: "Bearer" })],
])("a token endpoint that answers %s signs nobody in", async (_, answer) => {
  script.answer("/token", answer);
  await expect(finish()).rejects.toMatchObject(UNAVAILABLE);
});
