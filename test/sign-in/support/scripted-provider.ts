import { GOOGLE } from "../../../src/sign-in/providers/google.ts";
import { createProviders } from "../../../src/sign-in/providers/providers.ts";
import { testClock } from "../../support/database.ts";

export const CLIENT = { clientId: "ctxd", clientSecret: "secret" };
export const PROOFS = { verifier: "v".repeat(43), nonce: "n".repeat(43) };
export const ANSWER = new URLSearchParams({ code: "code", state: "state" });

type Answer = () => Response | Promise<Response>;

/** A provider that answers each path as the test configures it, and other paths with 404. */
export function startScriptedProvider() {
  const answers = new Map<string, Answer>();
  const requests: { path: string; authorization: string | null; body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      const authorization = request.headers.get("authorization");
      requests.push({ path, authorization, body: await request.text() });
      return answers.get(path)?.() ?? new Response(null, { status: 404 });
    },
  });
  const at = `http://localhost:${server.port}`;
  const clock = testClock();
  const now = clock() / 1000;
  const claims = {
    iss: at,
    aud: CLIENT.clientId,
    sub: "you",
    iat: now,
    exp: now + 300,
    nonce: PROOFS.nonce,
    email: "you@example.com",
    email_verified: true,
  };
  const metadata = {
    issuer: at,
    authorization_endpoint: `${at}/authorize`,
    token_endpoint: `${at}/token`,
    userinfo_endpoint: `${at}/userinfo`,
  };

  const script = {
    at,
    clock,
    /** Seconds since 1970, by the clock. */
    now,
    requests,
    stop: () => server.stop(true),

    /** Answers a path from now on. */
    answer: (path: string, answer: Answer) => void answers.set(path, answer),
    json: (path: string, value: unknown) => script.answer(path, () => Response.json(value)),

    /** Publishes metadata with these changes. */
    publish: (changes: Record<string, unknown> = {}) =>
      script.json("/.well-known/openid-configuration", { ...metadata, ...changes }),

    /** An ID token with these changes to its claims and its header, and an access token. */
    tokens: (changes: Record<string, unknown>, header = {}) =>
      Response.json({
        access_token: "token",
        token_type: "Bearer",
        id_token: [{ alg: "RS256", ...header }, { ...claims, ...changes }, "signature"]
          .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
          .join("."),
      }),

    /** Grants these tokens from now on. */
    grant: (changes: Record<string, unknown> = {}, header = {}) =>
      script.answer("/token", () => script.tokens(changes, header)),

    /** Removes all recorded requests and all changes. */
    reset(): void {
      answers.clear();
      requests.length = 0;
      script.publish();
      script.grant();
    },

    /** The provider as our server sees it: any OpenID provider, or Google or GitHub at this address. */
    connect(id: "oidc" | "google" | "github" = "oidc", timeoutMs?: number) {
      const { issuer, token_endpoint, userinfo_endpoint } = metadata;
      const settings = {
        github: id === "github" ? CLIENT : null,
        google: id === "google" ? CLIENT : null,
        oidc: id === "oidc" ? { ...CLIENT, issuer: at, name: "Scripted" } : null,
      };
      const options = {
        publicUrl: "http://localhost",
        clock,
        githubAt: { site: at, api: `${at}/api` },
        googleAt: { ...GOOGLE, issuer, token_endpoint, userinfo_endpoint },
        ...(timeoutMs && { timeoutMs }),
      };
      const [provider] = createProviders(settings, options);
      if (!provider) throw new Error("no provider");
      return provider;
    },
  };
  return script;
}
