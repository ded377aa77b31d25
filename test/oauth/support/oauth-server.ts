import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ServerStatus } from "../../../src/dashboard/server-status.ts";
import type { Embedder } from "../../../src/embedding/embedder.ts";
import type { Checks } from "../../../src/http/health.ts";
import type { Drain } from "../../../src/http/load/drain.ts";
import type { Log } from "../../../src/log.ts";
import type { UpkeepLimits } from "../../../src/memories/upkeep/flush-state.ts";
import type { FetchDocument } from "../../../src/oauth/clients/document-fetcher.ts";
import { type ConfigOf, startServer } from "../../support/server.ts";
import { createPerson, type Page, type Person } from "./person.ts";

export const REDIRECT_URI = "https://app.example.com/callback";
const VERIFIER = "v".repeat(43);

const Tokens = Type.Object({
  access_token: Type.String({ pattern: "^ctxa_[\\w-]{43}$" }),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Literal(3600),
  refresh_token: Type.String({ pattern: "^ctxr_[\\w-]{43}$" }),
  scope: Type.String(),
});
const Registered = Type.Object({
  client_id: Type.String(),
  client_secret: Type.Optional(Type.String()),
});

export type Tokens = Static<typeof Tokens>;
export type Parameters = Record<string, string | null>;
export type OAuthServer = Awaited<ReturnType<typeof startOAuthServer>>;

/** The real server under its public origin, with steps of the authorization flow. */
export async function startOAuthServer(
  options: {
    config?: ConfigOf;
    fetchDocument?: FetchDocument;
    embedder?: Embedder;
    log?: Log;
    checks?: Checks;
    due?: UpkeepLimits;
    drain?: Drain;
    serverStatus?: ServerStatus;
    /** A free one by default. */
    port?: number;
    /** Seconds that an idle connection lives. */
    idleTimeout?: number;
  } = {},
) {
  const { config = {} } = options;
  const server = await startServer({
    ...options,
    config: async (origin) => ({
      publicUrl: origin,
      ...(typeof config === "function" ? await config(origin) : config),
    }),
  });
  const { origin } = server;

  const post = async (path: string, body: Parameters, headers: Record<string, string> = {}) => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(body)) if (value !== null) form.set(name, value);
    const response = await fetch(origin + path, { method: "POST", body: form, headers });
    const answer: unknown = await response.json();
    return { status: response.status, headers: response.headers, body: answer };
  };

  return {
    ...server,
    post,

    register: async (metadata: Record<string, unknown> = {}) => {
      const response = await fetch(`${origin}/api/oauth/register`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          client_name: "Example",
          redirect_uris: [REDIRECT_URI],
          token_endpoint_auth_method: "none",
          ...metadata,
        }),
      });
      return shaped(Registered, await response.json());
    },

    /** A new account, and a browser that is signed in to it. */
    async signedIn() {
      const { accountId } = await server.account();
      const person = createPerson(origin);
      person.jar.set("ctxd-session", await server.sessions.begin(accountId));
      return { accountId, person };
    },

    /** The authorization request of a client. */
    authorizeUrl(clientId: string, changes: Parameters = {}): string {
      const parameters = new URLSearchParams();
      const all: Parameters = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        code_challenge: challengeOf(VERIFIER),
        code_challenge_method: "S256",
        state: "some state",
        resource: `${origin}/mcp`,
        ...changes,
      };
      for (const [name, value] of Object.entries(all)) {
        if (value !== null) parameters.set(name, value);
      }
      return `${origin}/api/oauth/authorize?${parameters}`;
    },

    /** The answer that the client receives after the user's consent. */
    async consent(
      person: Person,
      clientId: string,
      changes: Parameters = {},
      entered: Record<string, string> = {},
    ) {
      const page = await person.visit(this.authorizeUrl(clientId, changes));
      return answerOf(await person.submit(page, { decision: "allow", ...entered }));
    },

    /** Exchanges a code as its client does, with `changes`. */
    redeem: (clientId: string, code: string | null, changes: Parameters = {}, headers = {}) =>
      post(
        "/api/oauth/token",
        {
          grant_type: "authorization_code",
          client_id: clientId,
          code,
          code_verifier: VERIFIER,
          redirect_uri: REDIRECT_URI,
          resource: `${origin}/mcp`,
          ...changes,
        },
        headers,
      ),

    renew: (clientId: string, refreshToken: string, changes: Parameters = {}) =>
      post("/api/oauth/token", {
        grant_type: "refresh_token",
        client_id: clientId,
        refresh_token: refreshToken,
        ...changes,
      }),

    /** Registers a client and returns it with the tokens of a user's consent. */
    async connect(changes: Parameters = {}, entered: Record<string, string> = {}) {
      const { client_id: clientId } = await this.register();
      const { accountId, person } = await this.signedIn();
      const { code = null } = await this.consent(person, clientId, changes, entered);
      const tokens = tokensOf(await this.redeem(clientId, code));
      return { clientId, accountId, person, code, tokens };
    },

    /** The status of a request for memories with a token. */
    use: async (token: string, init: RequestInit = {}) =>
      (
        await fetch(`${origin}/api/memories`, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${token}` },
        })
      ).status,
  };
}

/** The parameters that a page's redirect carries to the client. */
export function answerOf({ location, text }: Page): Record<string, string> {
  if (location === null) throw new Error(`no redirect: ${text.slice(0, 800)}`);
  return Object.fromEntries(new URL(location).searchParams);
}

export function tokensOf({ body }: { body: unknown }): Tokens {
  return shaped(Tokens, body);
}

export function challengeOf(verifier: string): string {
  return new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
}

function shaped<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  if (Value.Check(schema, body)) return body;
  throw new Error(`not as expected: ${JSON.stringify(body)}`);
}
