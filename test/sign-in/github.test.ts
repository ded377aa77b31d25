import { afterAll, beforeEach, expect, test } from "bun:test";
import { rejectionOf } from "../support/outcome.ts";
import { ANSWER, PROOFS, startScriptedProvider } from "./support/scripted-provider.ts";

const TOKEN = "/login/oauth/access_token";
const EMAILS = [
  { email: "other@example.com", primary: false, verified: true },
  { email: "you@example.com", primary: true, verified: true },
];

const script = startScriptedProvider();
afterAll(script.stop);
beforeEach(() => {
  script.reset();
  script.json(TOKEN, { access_token: "token", token_type: "bearer", scope: "user:email" });
  script.json("/api/user", { id: 42, login: "you", email: "public@example.com" });
  script.json("/api/user/emails", EMAILS);
});

const github = script.connect("github");

test("the authorization request asks GitHub for the e-mail addresses, with PKCE", async () => {
  const url = await github.start("a state", PROOFS);
  expect(url.href).toStartWith("https://github.com/login/oauth/authorize?");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: "code",
    client_id: "ctxd",
    redirect_uri: "http://localhost/sign-in/with/github/callback",
    code_challenge_method: "S256",
    code_challenge: new Bun.CryptoHasher("sha256").update(PROOFS.verifier).digest("base64url"),
    state: "a state",
    scope: "user:email",
  });
});

test("an identity has GitHub's user id and the verified primary address", async () => {
  expect(await github.finish(ANSWER, PROOFS)).toEqual({
    issuer: "https://github.com",
    subject: "42",
    email: "you@example.com",
  });
  const redeemed = script.requests.find(({ path }) => path === TOKEN);
  expect(redeemed?.body).toContain(`code_verifier=${PROOFS.verifier}`);
  expect(script.requests.at(-1)?.authorization).toBe("Bearer token");
});

test("an answer with any issuer is accepted, because GitHub publishes none to compare with", async () => {
  const answer = new URLSearchParams({ code: "code", iss: "https://github.com/login/oauth" });
  expect(await github.finish(answer, PROOFS)).toMatchObject({ subject: "42" });
});

test("an unverified primary address is not used", async () => {
  script.json("/api/user/emails", [{ ...EMAILS[1], verified: false }, EMAILS[0]]);
  expect(await github.finish(ANSWER, PROOFS)).toMatchObject({ subject: "42", email: null });
});

test("a refused code signs nobody in, although GitHub answers with status 200", async () => {
  script.json(TOKEN, { error: "bad_verification_code" });
  expect(await rejectionOf(github.finish(ANSWER, PROOFS))).toMatchObject({ code: "unavailable" });
});

test("an API answer that is a redirect or has no user signs nobody in", async () => {
  script.answer("/api/user", () => Response.redirect(`${script.at}/api/other`, 302));
  script.json("/api/other", { id: 7 });
  expect(await rejectionOf(github.finish(ANSWER, PROOFS))).toMatchObject({ code: "unavailable" });
  script.json("/api/user", { login: "you" });
  expect(await rejectionOf(github.finish(ANSWER, PROOFS))).toMatchObject({ code: "unavailable" });
});
