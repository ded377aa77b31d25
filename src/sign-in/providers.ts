import {
  CodeChallengeMethod,
  decodeIdToken,
  generateCodeVerifier,
  OAuth2Client,
  type OAuth2Tokens,
} from "arctic";
import type { Providers as Settings } from "../config.ts";
import { AppError } from "../errors.ts";
import { WITH_PATH } from "./paths.ts";

/** Milliseconds that a provider may take to answer. */
const PATIENCE = 10_000;
/** Seconds by which the provider's clock may differ from ours. */
const LEEWAY = 60;

const GITHUB = "https://github.com";
const GITHUB_API = "https://api.github.com";
const GOOGLE = "https://accounts.google.com";

/** Whom a provider says that somebody is. */
export interface Identity {
  readonly issuer: string;
  /** What the issuer calls the person, for good. */
  readonly subject: string;
  /** An address that the provider has verified to be the person's; null without one. */
  readonly email: string | null;
}

/** What has to be kept between asking and the answer. */
export interface Proofs {
  /** PKCE (RFC 7636). */
  readonly verifier: string;
  /** What ties the answer's ID token to the question (OpenID Connect Core 1.0, section 3.1.2.1). */
  readonly nonce: string;
}

/** Somebody who knows people, and tells us who they are. */
export interface Provider {
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  readonly issuer: string;
  /** Where a person is sent. @throws AppError `unavailable` */
  start(state: string, proofs: Proofs): Promise<URL>;
  /** Whom a code is for. @throws AppError `unavailable` or `forbidden` */
  finish(code: string, proofs: Proofs): Promise<Identity>;
}

/** Where a provider's answer comes back to, below the public URL. */
export function callbackPath(id: string): string {
  return `${WITH_PATH}/${id}/callback`;
}

export function createProofs(): Proofs {
  return { verifier: generateCodeVerifier(), nonce: generateCodeVerifier() };
}

/**
 * The providers that are set up, in the order of their buttons. The one file that knows the library.
 * @param github where GitHub is, for tests
 */
export function createProviders(
  { github, google, oidc }: Settings,
  {
    publicUrl,
    clock,
    githubAt = { site: GITHUB, api: GITHUB_API },
  }: { publicUrl: string; clock: () => number; githubAt?: { site: string; api: string } },
): Provider[] {
  const clientOf = (id: string, { clientId, clientSecret }: NonNullable<typeof github>) =>
    new OAuth2Client(clientId, clientSecret, publicUrl + callbackPath(id));
  const providers: Provider[] = [];
  if (github) providers.push(createGitHub(clientOf("github", github), githubAt));
  if (google) {
    const client = clientOf("google", google);
    providers.push(createOpenId({ id: "google", name: "Google", issuer: GOOGLE, client, clock }));
  }
  if (oidc) {
    const { name, issuer } = oidc;
    const client = clientOf("oidc", oidc);
    providers.push(createOpenId({ id: "oidc", name, issuer, client, clock }));
  }
  return providers;
}

/** GitHub speaks OAuth alone: who somebody is, its API says. */
function createGitHub(
  client: OAuth2Client,
  { site, api }: { site: string; api: string },
): Provider {
  return {
    id: "github",
    name: "GitHub",
    issuer: GITHUB,

    start: async (state, { verifier }) =>
      client.createAuthorizationURLWithPKCE(
        `${site}/login/oauth/authorize`,
        state,
        CodeChallengeMethod.S256,
        verifier,
        ["user:email"],
      ),

    finish: (code, { verifier }) =>
      asking("GitHub", async () => {
        const tokens = await redeem(client, `${site}/login/oauth/access_token`, code, verifier);
        const token = tokens.accessToken();
        const user = record(await ask(`${api}/user`, token));
        const emails = await ask(`${api}/user/emails`, token);
        const primary = (Array.isArray(emails) ? emails : [])
          .map(record)
          .find((each) => each.primary === true && each.verified === true);
        if (typeof user.id !== "number") throw new Error("no user id");
        return { issuer: GITHUB, subject: `${user.id}`, email: text(primary?.email) };
      }),
  };
}

/** Any provider of OpenID Connect, by what its issuer publishes. */
function createOpenId({
  id,
  name,
  issuer,
  client,
  clock,
}: {
  id: string;
  name: string;
  issuer: string;
  client: OAuth2Client;
  clock: () => number;
}): Provider {
  let known: Promise<Metadata> | null = null;
  const discover = (): Promise<Metadata> => {
    known ??= readMetadata(issuer).catch((error) => {
      known = null;
      throw error;
    });
    return known;
  };

  return {
    id,
    name,
    issuer,

    start: (state, { verifier, nonce }) =>
      asking(name, async () => {
        const { authorizationEndpoint } = await discover();
        const method = CodeChallengeMethod.S256;
        const scopes = ["openid", "email"];
        const url = client.createAuthorizationURLWithPKCE(
          authorizationEndpoint,
          state,
          method,
          verifier,
          scopes,
        );
        url.searchParams.set("nonce", nonce);
        return url;
      }),

    finish: (code, { verifier, nonce }) =>
      asking(name, async () => {
        const { tokenEndpoint, userinfoEndpoint } = await discover();
        const tokens = await redeem(client, tokenEndpoint, code, verifier);
        const claims = record(decodeIdToken(tokens.idToken()));
        const { clientId } = client;
        const subject = checkIdToken(claims, { issuer, clientId, nonce, now: clock() / 1000 });
        if (claims.email !== undefined || userinfoEndpoint === null) {
          return { issuer, subject, email: verifiedEmail(claims) };
        }
        const more = record(await ask(userinfoEndpoint, tokens.accessToken()));
        // OpenID Connect Core 1.0, section 5.3.2: it may be somebody else's otherwise.
        if (more.sub !== subject) throw new Error("the user info is of somebody else");
        return { issuer, subject, email: verifiedEmail(more) };
      }),
  };
}

interface Metadata {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  userinfoEndpoint: string | null;
}

async function readMetadata(issuer: string): Promise<Metadata> {
  const document = record(
    await ask(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, null),
  );
  if (document.issuer !== issuer) throw new Error("its metadata is of another issuer");
  const endpoint = (name: string): string | null => {
    const url = URL.parse(text(document[name]) ?? "");
    // A secret goes there: as safely as to the issuer.
    return url && (url.protocol === "https:" || issuer.startsWith("http:")) ? url.href : null;
  };
  const authorizationEndpoint = endpoint("authorization_endpoint");
  const tokenEndpoint = endpoint("token_endpoint");
  if (!authorizationEndpoint || !tokenEndpoint) throw new Error("its metadata lacks endpoints");
  return {
    authorizationEndpoint,
    tokenEndpoint,
    userinfoEndpoint: endpoint("userinfo_endpoint"),
  };
}

/**
 * Checks that an ID token is for us, now, and for this question; returns its subject. It has come
 * from the issuer itself, which by TLS takes the place of its signature (OpenID Connect Core 1.0,
 * section 3.1.3.7, item 6).
 */
function checkIdToken(
  { iss, aud, azp, exp, nonce, sub }: Record<string, unknown>,
  wanted: { issuer: string; clientId: string; nonce: string; now: number },
): string {
  const audience = [aud].flat();
  const isForUs =
    audience.includes(wanted.clientId) && (azp === undefined || azp === wanted.clientId);
  const isNow = typeof exp === "number" && exp + LEEWAY > wanted.now;
  const subject = text(sub);
  if (iss === wanted.issuer && isForUs && isNow && nonce === wanted.nonce && subject) {
    return subject;
  }
  throw new AppError("forbidden", "What the provider has said is not for this sign-in. Try again.");
}

/** Some write the truth as text. */
function verifiedEmail(claims: Record<string, unknown>): string | null {
  const isVerified = claims.email_verified === true || claims.email_verified === "true";
  return isVerified ? text(claims.email) : null;
}

/** The library waits for ever. */
async function redeem(
  client: OAuth2Client,
  endpoint: string,
  code: string,
  verifier: string,
): Promise<OAuth2Tokens> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("it took too long")), PATIENCE);
  try {
    return await Promise.race([client.validateAuthorizationCode(endpoint, code, verifier), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function ask(url: string, token: string | null): Promise<unknown> {
  const response = await fetch(url, {
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE),
    headers: {
      accept: "application/json",
      "user-agent": "ctxd",
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
  });
  if (!response.ok) throw new Error(`${new URL(url).host} answers ${response.status}`);
  return response.json();
}

/** Whatever goes wrong with a provider is one sentence for the person, and the rest for the log. */
async function asking<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("unavailable", `${name} can't be asked right now. Try again in a moment.`, {
      cause: error,
    });
  }
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new Error("not an object");
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= 1_000 ? value : null;
}
