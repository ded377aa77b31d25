import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { rejectionOf } from "../support/outcome.ts";
import { PROOFS, startScriptedProvider } from "./support/scripted-provider.ts";

const MINUTE = 60;

const script = startScriptedProvider();
const { at, now } = script;
beforeEach(script.reset);
afterAll(script.stop);

/** Google's answers always name their issuer. */
const ANSWER = new URLSearchParams({ code: "code", state: "state", iss: at });

describe.each(["oidc", "google"] as const)("by %s", (id) => {
  const finish = () => script.connect(id).finish(ANSWER, PROOFS);

  describe("an ID token is accepted", () => {
    test.each<[string, Record<string, unknown>]>([
      ["for this client", {}],
      ["for several clients, requested by this one", { aud: ["ctxd", "other"], azp: "ctxd" }],
      ["30 s after it has expired, as clocks differ", { exp: now - 30 }],
      ["30 s before it is valid, as clocks differ", { nbf: now + 30 }],
      ['with "true" instead of true', { email_verified: "true" }],
    ])("%s", async (_, claims) => {
      script.grant(claims);
      expect(await finish()).toEqual({ issuer: at, subject: "you", email: "you@example.com" });
    });
  });

  describe("an ID token is refused", () => {
    test.each<[string, Record<string, unknown>]>([
      ["of another issuer", { iss: "https://evil.example.com" }],
      ["for another client", { aud: "other" }],
      ["for several clients without the requesting one", { aud: ["ctxd", "other"] }],
      ["for several clients, requested by another", { aud: ["ctxd", "other"], azp: "other" }],
      ["requested by another client", { azp: "other" }],
      ["with the nonce of another sign-in", { nonce: "x".repeat(43) }],
      ["without a nonce", { nonce: undefined }],
      ["that expired an hour ago", { exp: now - 60 * MINUTE }],
      ["that is valid in an hour", { nbf: now + 60 * MINUTE }],
      ["without an expiry", { exp: undefined }],
      ["whose expiry is a text", { exp: `${now + MINUTE}` }],
      ["without a time of issue", { iat: undefined }],
      ["without a subject", { sub: undefined }],
      ["with an empty subject", { sub: "" }],
    ])("%s", async (_, claims) => {
      script.grant(claims);
      expect(await rejectionOf(finish())).toMatchObject({ code: "forbidden" });
    });

    test("without a signature's algorithm", async () => {
      script.grant({}, { alg: "none" });
      expect(await rejectionOf(finish())).toMatchObject({ code: "unavailable" });
    });
  });

  test("an address is used only if the provider has verified it", async () => {
    for (const email_verified of [false, "false", undefined, 1]) {
      script.grant({ email_verified });
      expect(await finish()).toMatchObject({ email: null });
    }
  });

  test("an address that is missing in the token is read from the user info of the same person", async () => {
    const email = "you@example.com";
    script.grant({ email: undefined, email_verified: undefined });
    script.json("/userinfo", { sub: "you", email, email_verified: true });
    expect(await finish()).toMatchObject({ subject: "you", email });
    expect(script.requests.at(-1)?.authorization).toBe("Bearer token");
    script.json("/userinfo", { sub: "other", email, email_verified: true });
    expect(await rejectionOf(finish())).toMatchObject({ code: "unavailable" });
  });
});
