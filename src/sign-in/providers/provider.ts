import * as oauth from "oauth4webapi";
import { AppError } from "../../errors.ts";
import { readAtMost } from "../../system/downloads.ts";

/** Who a provider says that a person is. */
export interface Identity {
  readonly issuer: string;
  /** The issuer's permanent id of the person. */
  readonly subject: string;
  /** An e-mail address that the provider has verified; null without one. */
  readonly email: string | null;
}

/** Secrets that are kept between the redirect to the provider and its answer. */
export interface ProviderSecrets {
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Ties the ID token to this sign-in (OpenID Connect Core 1.0, section 3.1.2.1). */
  readonly nonce: string;
}

/** A service that people sign in with. */
export interface Provider {
  readonly id: string;
  /** The name on its button. */
  readonly name: string;
  readonly issuer: string;
  /** The address that the browser is redirected to. @throws AppError `unavailable` */
  start(state: string, proofs: ProviderSecrets): Promise<URL>;
  /**
   * Redeems the provider's answer.
   * @param answer the query of the callback. The caller has checked its `state`.
   * @throws AppError `unavailable`, or `forbidden` for an ID token that is not for this sign-in
   */
  finish(answer: URLSearchParams, proofs: ProviderSecrets): Promise<Identity>;
}

/**
 * Milliseconds that each request to a provider may take. A sign-in takes up to three, one after
 * another, and a browser's connection lasts 30 s without an answer.
 */
const TIMEOUT_MS = 7_000;
/** Bytes of an answer. The longest real ones are tokens with the groups of a person. */
const MAX_BYTES = 256 << 10;
/** Seconds by which the provider's clock may differ from ours. */
const CLOCK_TOLERANCE = 60;

/** Our registration with a provider. */
export interface Registration {
  /** The name on the provider's button, for messages. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The callback's address. */
  readonly redirectUri: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Milliseconds that each request may take; for tests. */
  readonly timeoutMs?: number | undefined;
}

export type ProviderClient = ReturnType<typeof createProviderClient>;

/** Speaks OAuth with one provider. No request follows a redirect. */
export function createProviderClient({
  name,
  issuer,
  clientId,
  clientSecret,
  redirectUri,
  clock,
  timeoutMs = TIMEOUT_MS,
}: Registration) {
  const request = {
    headers: { "user-agent": "ctxd" },
    signal: () => AbortSignal.timeout(timeoutMs),
    // The client secret needs a connection as secure as the one to the issuer.
    [oauth.allowInsecureRequests]: issuer.startsWith("http:"),
    [oauth.customFetch]: fetchBounded,
  };
  const client = (): oauth.Client => ({
    client_id: clientId,
    [oauth.clockSkew]: Math.round((clock() - Date.now()) / 1000),
    [oauth.clockTolerance]: CLOCK_TOLERANCE,
  });
  /** Many providers do not decode the form encoding that RFC 6749, section 2.3.1 asks for. */
  const authenticate: oauth.ClientAuth = (_server, _client, _body, headers) =>
    headers.set("authorization", `Basic ${btoa(`${clientId}:${clientSecret}`)}`);

  return {
    issuer,
    clientId,

    /** What the issuer publishes about itself (OpenID Connect Discovery 1.0). */
    async discover(): Promise<oauth.AuthorizationServer> {
      const url = new URL(issuer);
      return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, request));
    },

    /** The address that asks the provider to sign a person in. */
    async authorizationUrl(
      endpoint: string | undefined,
      parameters: { state: string; verifier: string; scope: string; nonce?: string },
    ): Promise<URL> {
      const { verifier, ...others } = parameters;
      const url = new URL(endpoint ?? "");
      oauth.checkProtocol(url, !request[oauth.allowInsecureRequests]);
      const query = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        ...others,
      };
      for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
      return addChallenge(url, verifier);
    },

    /**
     * Redeems the code of an answer. With a nonce, the answer must have an ID token, which is checked; its signature is
     * not, because it comes from the issuer itself over TLS (OpenID Connect Core 1.0, section 3.1.3.7, item 6).
     */
    async redeem(
      server: oauth.AuthorizationServer,
      answer: URLSearchParams,
      { verifier, nonce }: { verifier: string; nonce?: string },
    ): Promise<{ accessToken: string; claims: oauth.IDToken | undefined }> {
      const us = client();
      const checked = oauth.validateAuthResponse(server, us, answer, oauth.skipStateCheck);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        us,
        authenticate,
        checked,
        redirectUri,
        verifier,
        request,
      );
      const expected = nonce === undefined ? {} : { expectedNonce: nonce };
      const tokens = await oauth.processAuthorizationCodeResponse(server, us, response, expected);
      return {
        accessToken: tokens.access_token,
        claims: oauth.getValidatedIdTokenClaims(tokens),
      };
    },

    /** The user info of a subject (OpenID Connect Core 1.0, section 5.3). */
    async userInfo(
      server: oauth.AuthorizationServer,
      accessToken: string,
      subject: string,
    ): Promise<oauth.UserInfoResponse> {
      const us = client();
      const response = await oauth.userInfoRequest(server, us, accessToken, request);
      return oauth.processUserInfoResponse(server, us, subject, response);
    },

    /** The JSON of a resource that the access token opens. */
    async read(url: string, accessToken: string): Promise<unknown> {
      const headers = new Headers({ ...request.headers, accept: "application/json" });
      const response = await oauth.protectedResourceRequest(
        accessToken,
        "GET",
        new URL(url),
        headers,
        undefined,
        request,
      );
      if (!response.ok) throw new Error(`${new URL(url).host} answers ${response.status}`);
      return response.json();
    },

    /** Runs work. A person sees one sentence about a failure; `cause` has the rest, for the log. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (error) {
        if (error instanceof AppError) throw error;
        if (isAboutClaims(error)) throw wrongIdToken(error);
        throw new AppError(
          "unavailable",
          `${name} can't be asked right now. Try again in a moment.`,
          { cause: error },
        );
      }
    },
  };
}

/** Adds the challenge of PKCE to an authorization URL (RFC 7636, section 4.3), and returns the URL. */
export async function addChallenge(url: URL, verifier: string): Promise<URL> {
  url.searchParams.set("code_challenge_method", "S256");
  url.searchParams.set("code_challenge", await oauth.calculatePKCECodeChallenge(verifier));
  return url;
}

/**
 * Fetches a small answer. Of its headers only the content type is kept: the library's reading of a long
 * `WWW-Authenticate` takes seconds.
 */
async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(url, init);
  const content = await readAtMost(body, MAX_BYTES);
  const type = headers.get("content-type");
  return new Response(content, { status, headers: type === null ? {} : { "content-type": type } });
}

/** An ID token that is not for us, not for now, or not for this sign-in. */
export function wrongIdToken(cause?: unknown): AppError {
  return new AppError(
    "forbidden",
    "The provider's answer does not belong to this sign-in. Try again.",
    { cause },
  );
}

/** The library's errors about an ID token carry its claims. */
function isAboutClaims(error: unknown): boolean {
  if (!(error instanceof oauth.OperationProcessingError)) return false;
  const { cause } = error;
  return typeof cause === "object" && cause !== null && "claims" in cause;
}

/**
 * A text of a provider's answer; null for anything else, and for one that is empty or too long. Control
 * characters and halves of characters are refused: a database may store two such texts as the same one.
 */
export function textOf(value: unknown): string | null {
  const isText = typeof value === "string" && value !== "" && value.length <= 1_000;
  return isText && !/[\p{Cc}\p{Cs}]/u.test(value) ? value : null;
}
