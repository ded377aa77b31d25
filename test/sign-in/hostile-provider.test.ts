import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { rejectionOf } from "../support/outcome.ts";
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

/** Google is one too, and GitHub is asked the same way. */
const OPEN_ID = ["oidc", "google"] as const;
/** Where each provider redeems a code. */
const TOKEN = { oidc: "/token", google: "/token", github: "/login/oauth/access_token" };
const ALL = ["oidc", "google", "github"] as const;
/** Google's answers always name their issuer. */
const NAMED = new URLSearchParams({ code: "code", state: "state", iss: script.at });

const finish = (answer = ANSWER) => script.connect().finish(answer, PROOFS);
const start = () => script.connect().start("state", PROOFS);
const paths = () => script.requests.map(({ path }) => path);

test.each(ALL)(
  "%s gets the secret, the code and the verifier at its token endpoint",
  async (id) => {
    script.json(TOKEN.github, { access_token: "token", token_type: "bearer" });
    script.json("/api/user", { id: 42 });
    script.json("/api/user/emails", []);
    await script.connect(id).finish(NAMED, PROOFS);
    const request = script.requests.find(({ path }) => path === TOKEN[id]);
    const { clientId, clientSecret } = CLIENT;
    expect(request?.authorization).toBe(`Basic ${btoa(`${clientId}:${clientSecret}`)}`);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: "authorization_code",
      code: "code",
      code_verifier: PROOFS.verifier,
      redirect_uri: `http://localhost/sign-in/with/${id}/callback`,
    });
  },
);

test("metadata of another issuer is not used", async () => {
  script.publish({ issuer: elsewhere.at });
  expect(await rejectionOf(start())).toMatchObject(UNAVAILABLE);
  expect(await rejectionOf(finish())).toMatchObject(UNAVAILABLE);
  expect(paths()).toEqual([CONFIGURATION, CONFIGURATION]);
});

test("an identity has the issuer of the settings, also if the metadata add a slash", async () => {
  script.publish({ issuer: `${script.at}/` });
  script.grant({ iss: `${script.at}/` });
  expect(await finish()).toMatchObject({ issuer: script.at });
});

test.each([undefined, "nowhere", "javascript:alert(1)", "file:///etc/passwd", 7])(
  "a browser is not sent to the endpoint %p",
  async (authorization_endpoint) => {
    script.publish({ authorization_endpoint });
    expect(await rejectionOf(start())).toMatchObject(UNAVAILABLE);
  },
);

test.each([undefined, "nowhere", "file:///etc/passwd", 7])(
  "no code is redeemed at the endpoint %p",
  async (token_endpoint) => {
    script.publish({ token_endpoint });
    expect(await rejectionOf(finish())).toMatchObject(UNAVAILABLE);
    expect(paths()).toEqual([CONFIGURATION]);
  },
);

test("the next sign-in requests failed metadata again", async () => {
  const provider = script.connect();
  script.publish({ issuer: elsewhere.at });
  expect(await rejectionOf(provider.start("state", PROOFS))).toMatchObject(UNAVAILABLE);
  script.publish();
  expect((await provider.start("state", PROOFS)).pathname).toBe("/authorize");
});

describe("a redirect is not followed", () => {
  test.each([
    ["oidc", CONFIGURATION],
    ["oidc", "/token"],
    ["oidc", "/userinfo"],
    ["google", "/token"],
    ["google", "/userinfo"],
    ["github", TOKEN.github],
    ["github", "/api/user"],
    ["github", "/api/user/emails"],
  ] as const)("of %s from %s", async (id, path) => {
    script.grant({ email: undefined });
    script.json(TOKEN.github, { access_token: "token", token_type: "bearer" });
    script.json("/api/user", { id: 42 });
    elsewhere.grant();
    elsewhere.json("/userinfo", { sub: "you", email: "you@example.com", email_verified: true });
    script.answer(path, () => Response.redirect(elsewhere.at + path, 307));
    const finished = script.connect(id).finish(NAMED, PROOFS);
    expect(await rejectionOf(finished)).toMatchObject(UNAVAILABLE);
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
    ["does not answer for its metadata", "oidc", CONFIGURATION, silent],
    ...ALL.flatMap((id) => [
      ["does not answer for a code", id, TOKEN[id], silent] as const,
      ["does not end its answer", id, TOKEN[id], endless] as const,
    ]),
  ] as const)("when it %s: %s", async (_, id, path, answer) => {
    script.answer(path, answer);
    const finished = script.connect(id, 200).finish(NAMED, PROOFS);
    expect(await rejectionOf(finished)).toMatchObject(UNAVAILABLE);
    expect(paths()).toContain(path);
  });
});

test.each(ALL)("an answer of %s of more than 256 KB is not read", async (id) => {
  let sent = 0;
  const flood = () =>
    new Response(
      new ReadableStream({
        pull(stream) {
          // Without a limit this ends, and the test fails at the number of bytes.
          if (sent > 64 << 20) return stream.close();
          sent += 64 << 10;
          stream.enqueue(Buffer.alloc(64 << 10, " "));
        },
      }),
      { headers: { "content-type": "application/json" } },
    );
  script.answer(TOKEN[id], flood);
  const finished = script.connect(id).finish(NAMED, PROOFS);
  expect(await rejectionOf(finished)).toMatchObject(UNAVAILABLE);
  expect(sent).toBeGreaterThan(256 << 10);
  expect(sent).toBeLessThan(32 << 20);
});

describe.each(OPEN_ID)("an answer of %s is refused before its code is redeemed", (id) => {
  const finish = (answer = ANSWER) => script.connect(id).finish(answer, PROOFS);
  const from = (issuer: string) => new URLSearchParams({ code: "code", iss: issuer });

  test("that comes from another issuer (RFC 9207)", async () => {
    expect(await rejectionOf(finish(from(elsewhere.at)))).toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
    expect(await finish(from(script.at))).toMatchObject({ subject: "you" });
  });

  test("without an issuer, although the provider announces one", async () => {
    script.publish({ authorization_response_iss_parameter_supported: true });
    expect(await rejectionOf(finish())).toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
  });

  test("with an error beside the code", async () => {
    const answer = new URLSearchParams({ code: "code", error: "access_denied", iss: script.at });
    expect(await rejectionOf(finish(answer))).toMatchObject(UNAVAILABLE);
    expect(paths()).not.toContain("/token");
  });
});

describe.each(ALL)("a token endpoint of %s signs nobody in", (id) => {
  test.each<[string, () => Response]>([
    ["HTML", () => new Response("<p>Sign in</p>", { headers: { "content-type": "text/html" } })],
    ["no tokens", () => Response.json({})],
    ["a list", () => Response.json([])],
    ["an error with status 200", () => Response.json({ error: "invalid_grant" })],
    ["an error with status 400", () => Response.json({ error: "invalid_grant" }, { status: 400 })],
    ["no type of token", () => Response.json({ access_token: "a" })],
  ])("that answers %s", async (_, answer) => {
    script.answer(TOKEN[id], answer);
    script.json("/api/user", { id: 42 });
    script.json("/api/user/emails", []);
    expect(await rejectionOf(script.connect(id).finish(NAMED, PROOFS))).toMatchObject(UNAVAILABLE);
    expect(paths().at(-1)).toBe(TOKEN[id]);
  });
});

test.each(OPEN_ID)("a token of %s without an ID token signs nobody in", async (id) => {
  script.json(TOKEN[id], { access_token: "a", token_type: "Bearer" });
  expect(await rejectionOf(script.connect(id).finish(NAMED, PROOFS))).toMatchObject(UNAVAILABLE);
});
