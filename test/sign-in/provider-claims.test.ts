import { afterAll, expect, test } from "bun:test";
import { createProviders, type Identity } from "../../src/sign-in/providers.ts";
import { testClock } from "../support/database.ts";

const CLIENT = { clientId: "ctxd", clientSecret: "secret" };
const PROOFS = { verifier: "v".repeat(43), nonce: "n".repeat(43) };
const MINUTE = 60;

const clock = testClock();
const now = clock() / 1000;

/** What the provider answers, by path. */
const answers = new Map<string, unknown>();
const asked: { url: string; authorization: string | null; body: string }[] = [];
const stub = Bun.serve({
  port: 0,
  fetch: async (request) => {
    const { url, headers } = request;
    const authorization = headers.get("authorization");
    asked.push({ url, authorization, body: await request.text() });
    const answer = answers.get(new URL(url).pathname);
    return answer === undefined ? new Response(null, { status: 404 }) : Response.json(answer);
  },
});
afterAll(() => stub.stop(true));
const at = `http://localhost:${stub.port}`;

const METADATA = {
  issuer: at,
  authorization_endpoint: `${at}/authorize`,
  token_endpoint: `${at}/token`,
  userinfo_endpoint: `${at}/userinfo`,
};
const CLAIMS = {
  iss: at,
  aud: "ctxd",
  sub: "you",
  exp: now + 5 * MINUTE,
  nonce: PROOFS.nonce,
  email: "you@example.com",
  email_verified: true,
};

function idToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part(claims)}.${part("signature")}`;
}

/** Whom the provider is taken to name, with these changes to what it says. */
async function identify(
  claims: Record<string, unknown> = {},
  { metadata = {}, userinfo }: { metadata?: Record<string, unknown>; userinfo?: unknown } = {},
): Promise<Identity | undefined> {
  answers.clear();
  answers.set("/.well-known/openid-configuration", { ...METADATA, ...metadata });
  answers.set("/token", {
    access_token: "token",
    token_type: "Bearer",
    id_token: idToken({ ...CLAIMS, ...claims }),
  });
  if (userinfo !== undefined) answers.set("/userinfo", userinfo);
  const settings = { github: null, google: null, oidc: { ...CLIENT, issuer: at, name: "it" } };
  const [provider] = createProviders(settings, { publicUrl: "http://localhost", clock });
  return provider?.finish("code", PROOFS);
}

test.each<[string, Record<string, unknown>]>([
  ["as it should be", {}],
  ["for several, of whom we asked", { aud: ["ctxd", "other"], azp: "ctxd" }],
  ["that is over since a moment, by our clock", { exp: now - 30 }],
  ["that says the truth as text", { email_verified: "true" }],
])("an ID token %s is taken", async (_, claims) => {
  expect(await identify(claims)).toEqual({ issuer: at, subject: "you", email: "you@example.com" });
});

test.each<[string, Record<string, unknown>]>([
  ["another issuer", { iss: "https://evil.example.com" }],
  ["another client", { aud: "other" }],
  ["several, of whom another asked", { aud: ["ctxd", "other"], azp: "other" }],
  ["another question", { nonce: "x".repeat(43) }],
  ["no question", { nonce: undefined }],
  ["an hour ago", { exp: now - 60 * MINUTE }],
  ["ever", { exp: undefined }],
  ["nobody", { sub: undefined }],
  ["somebody without a name", { sub: "" }],
])("an ID token for %s is refused", async (_, claims) => {
  await expect(identify(claims)).rejects.toMatchObject({ code: "forbidden" });
});

test("an address counts only as verified by the provider", async () => {
  for (const email_verified of [false, "false", undefined, 1]) {
    expect(await identify({ email_verified })).toMatchObject({ email: null });
  }
});

test("an address that the token lacks is asked for, and must be the same person's", async () => {
  const claims = { email: undefined, email_verified: undefined };
  const email = "you@example.com";
  const of = (sub: string) => ({ userinfo: { sub, email, email_verified: true } });
  expect(await identify(claims, of("you"))).toMatchObject({ subject: "you", email });
  expect(asked.at(-1)?.authorization).toBe("Bearer token");
  await expect(identify(claims, of("other"))).rejects.toMatchObject({ code: "unavailable" });
});

test.each([
  { issuer: "https://evil.example.com" },
  { token_endpoint: undefined },
  { authorization_endpoint: "nowhere" },
])("metadata with %j is not used", async (metadata) => {
  await expect(identify({}, { metadata })).rejects.toMatchObject({ code: "unavailable" });
});

test("GitHub names people by number, and by their verified primary address", async () => {
  const settings = { github: CLIENT, google: null, oidc: null };
  const githubAt = { site: at, api: `${at}/api` };
  const [github] = createProviders(settings, { publicUrl: "http://localhost", clock, githubAt });
  const url = await github?.start("state", PROOFS);
  expect(url?.searchParams.get("redirect_uri")).toBe(
    "http://localhost/sign-in/with/github/callback",
  );
  answers.clear();
  answers.set("/login/oauth/access_token", { access_token: "token", token_type: "bearer" });
  answers.set("/api/user", { id: 42, login: "you", email: "public@example.com" });
  const emails = [
    { email: "other@example.com", primary: false, verified: true },
    { email: "you@example.com", primary: true, verified: true },
  ];
  answers.set("/api/user/emails", emails);
  const issuer = "https://github.com";
  expect(await github?.finish("code", PROOFS)).toEqual({
    issuer,
    subject: "42",
    email: "you@example.com",
  });
  const redeemed = asked.find(({ url }) => url.endsWith("/access_token"));
  expect(redeemed?.body).toContain(`code_verifier=${PROOFS.verifier}`);

  answers.set("/api/user/emails", [{ ...emails[1], verified: false }, emails[0]]);
  expect(await github?.finish("code", PROOFS)).toMatchObject({ subject: "42", email: null });
  // GitHub says with status 200 that a code is wrong.
  answers.set("/login/oauth/access_token", { error: "bad_verification_code" });
  await expect(github?.finish("code", PROOFS)).rejects.toMatchObject({ code: "unavailable" });
});
