import { afterAll, beforeEach, expect, test } from "bun:test";
import { GOOGLE } from "../../src/sign-in/providers/google.ts";
import { createProviders } from "../../src/sign-in/providers/providers.ts";
import { CLIENT, PROOFS, startScriptedProvider } from "./support/scripted-provider.ts";

const script = startScriptedProvider();
beforeEach(script.reset);
afterAll(script.stop);

const google = script.connect("google");
const answer = new URLSearchParams({ code: "code", state: "state", iss: script.at });

test("the authorization request asks Google for the e-mail address, with PKCE and a nonce", async () => {
  const url = await google.start("a state", PROOFS);
  expect(url.href).toStartWith("https://accounts.google.com/o/oauth2/v2/auth?");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: "code",
    client_id: "ctxd",
    redirect_uri: "http://localhost/sign-in/with/google/callback",
    code_challenge_method: "S256",
    code_challenge: new Bun.CryptoHasher("sha256").update(PROOFS.verifier).digest("base64url"),
    state: "a state",
    nonce: PROOFS.nonce,
    scope: "openid email",
  });
  expect(script.requests).toEqual([]);
});

test("an identity has the issuer, the subject and the verified address of the ID token", async () => {
  expect(await google.finish(answer, PROOFS)).toEqual({
    issuer: script.at,
    subject: "you",
    email: "you@example.com",
  });
  expect(script.requests.map(({ path }) => path)).toEqual(["/token"]);
});

test("outside of tests, codes and tokens go to Google over TLS, and identities keep its name", () => {
  const [provider] = createProviders(
    { github: null, google: CLIENT, oidc: null },
    { publicUrl: "http://localhost", clock: script.clock },
  );
  expect(provider?.issuer).toBe("https://accounts.google.com");
  const { issuer, token_endpoint, userinfo_endpoint } = GOOGLE;
  for (const address of [issuer, token_endpoint, userinfo_endpoint]) {
    expect(new URL(address).protocol).toBe("https:");
    expect(new URL(address).hostname).toMatch(
      /^(accounts\.google|(oauth2|openidconnect)\.googleapis)\.com$/,
    );
  }
});
