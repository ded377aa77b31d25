import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { readBytes } from "../http/requests/body.ts";
import { readForm } from "../http/requests/form.ts";
import { clientAddress } from "../http/requests/proxy.ts";
import { PAGE_ROUTE } from "../pages/page-response.tsx";
import type { SignInParts } from "../sign-in/routes.tsx";
import { siteOf } from "../timing/rate-limit.ts";
import { parameterOf, parseRequestedScopes } from "./authorization-request.ts";
import { GRANT_TYPES, parseClientMetadata } from "./clients/client.ts";
import { authenticateClient } from "./clients/client-authentication.ts";
import type { AccessSet } from "./codes.ts";
import {
  ENDPOINTS,
  GUESSED_ENDPOINTS,
  RESOURCE_METADATA_PATHS,
  resourceMetadata,
  SERVER_METADATA_PATHS,
  serverMetadata,
} from "./discovery.ts";
import { grantFacts, ReuseError } from "./grants.ts";
import type { OAuth } from "./oauth.ts";
import { OAuthError, parseResource } from "./oauth-error.ts";

/** Bytes of a registration. */
const MAX_METADATA = 64 << 10;
const HOUR = 3_600_000;

/**
 * Web pages that are MCP clients read these answers (https://fetch.spec.whatwg.org/#http-cors-protocol). Browsers add
 * no credentials to these requests, so any page may send them.
 */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
  "access-control-allow-headers": "Authorization, Content-Type, Accept, MCP-Protocol-Version",
  "access-control-max-age": "86400",
};

/** Discovery, and the JSON endpoints that clients use without a person. */
export function createOAuthRoutes({
  config,
  oauth,
  record,
  ephemeral,
}: Pick<SignInParts, "config" | "record" | "ephemeral"> & {
  oauth: Pick<OAuth, "clients" | "codes" | "tokens">;
}) {
  const { publicUrl } = config;
  const byAddress = ephemeral.limit("registrations", { tries: 60, period: HOUR });
  const bySite = ephemeral.limit("registrations of a site", { tries: 240, period: HOUR });
  const routes = new Elysia().guard(PAGE_ROUTE);

  const ofServer = () => serverMetadata(publicUrl, oauth.clients.readsDocuments());
  const ofResource = () => resourceMetadata(publicUrl);
  const preflight = () => new Response(null, { status: 204, headers: CORS });
  for (const [paths, document] of [
    [SERVER_METADATA_PATHS, ofServer],
    [RESOURCE_METADATA_PATHS, ofResource],
  ] as const) {
    for (const path of paths) {
      routes.get(path, () => Response.json(document(), { headers: CORS }));
      routes.options(path, preflight);
    }
  }

  const register = async (request: Request) => {
    const metadata = parseClientMetadata(await readMetadata(request));
    const address = clientAddress(request, config);
    const site = siteOf(address);
    const wait =
      (await byAddress.take(address)) ?? (site === null ? null : await bySite.take(site));
    if (wait !== null) {
      throw new AppError("rate_limited", "Too many registrations.", { retryAfter: wait });
    }
    const { id, secret, createdAt } = await oauth.clients.register(metadata);
    // RFC 7591, section 3.2.1: the registered metadata, which may be less than requested.
    const registered = {
      client_id: id,
      client_id_issued_at: Math.floor(createdAt.getTime() / 1000),
      ...(secret !== null && { client_secret: secret, client_secret_expires_at: 0 }),
      client_name: metadata.name,
      redirect_uris: metadata.redirectUris,
      token_endpoint_auth_method: metadata.authMethod,
      grant_types: GRANT_TYPES,
      response_types: ["code"],
    };
    return Response.json(registered, { status: 201 });
  };

  const recordReuse = async <T>(request: Request, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ReuseError) record(request, "token_reused", grantFacts(error.grant));
      throw error;
    }
  };

  const token = async (request: Request) => {
    const form = await readForm(request);
    const clientId = await authenticateClient(request, form, oauth.clients);
    const grantType = parameterOf(form, "grant_type");
    const tokens = await recordReuse(request, () =>
      redeemOrRenew(oauth, grantType, form, clientId, publicUrl),
    );
    if (grantType === "authorization_code") await oauth.clients.markUsed(clientId);
    // RFC 6749, section 5.1.
    return Response.json(tokens, { headers: { pragma: "no-cache" } });
  };

  const revoke = async (request: Request) => {
    const form = await readForm(request);
    const clientId = await authenticateClient(request, form, oauth.clients);
    const ended = await oauth.tokens.revoke(clientId, required(form, "token"));
    if (ended) record(request, "app_revoked", grantFacts(ended));
    // RFC 7009, section 2.2: 200 for an unknown token as well.
    return Response.json({});
  };

  for (const paths of [ENDPOINTS, GUESSED_ENDPOINTS]) {
    for (const [path, handle] of [
      [paths.register, register],
      [paths.token, token],
      [paths.revoke, revoke],
    ] as const) {
      routes.post(path, ({ request }) => answerInJson(request, () => handle(request)));
      routes.options(path, preflight);
    }
  }
  return routes;
}

async function redeemOrRenew(
  { codes, tokens }: Pick<OAuth, "codes" | "tokens">,
  grantType: string | null,
  form: URLSearchParams,
  clientId: string,
  publicUrl: string,
): Promise<AccessSet> {
  const resource = parseResource(form.getAll("resource"), publicUrl);
  switch (grantType) {
    case "authorization_code":
      return codes.redeem({
        clientId,
        code: required(form, "code"),
        verifier: required(form, "code_verifier"),
        redirectUri: parameterOf(form, "redirect_uri"),
        resource,
      });
    case "refresh_token":
      return tokens.renew({
        clientId,
        refreshToken: required(form, "refresh_token"),
        scopes: parseRequestedScopes(parameterOf(form, "scope")),
        resource,
      });
    case null:
      throw new OAuthError("invalid_request", "grant_type is missing.");
    default:
      throw new OAuthError(
        "unsupported_grant_type",
        `The grant types here are ${GRANT_TYPES.join(" and ")}.`,
      );
  }
}

function required(form: URLSearchParams, name: string): string {
  const value = parameterOf(form, name);
  if (value !== null) return value;
  throw new OAuthError("invalid_request", `${name} is missing.`);
}

async function readMetadata(request: Request): Promise<unknown> {
  const bytes = await readBytes(request, MAX_METADATA);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new OAuthError("invalid_client_metadata", "The body is not valid JSON in UTF-8.");
  }
}

/** Turns the answer or error of a handler into the form of RFC 6749, section 5.2. */
async function answerInJson(request: Request, handle: () => Promise<Response>): Promise<Response> {
  const response = await handle().catch((error: unknown) => errorResponse(request, error));
  for (const [name, value] of Object.entries(CORS)) response.headers.set(name, value);
  return response;
}

function errorResponse(request: Request, error: unknown): Response {
  if (error instanceof OAuthError) {
    const headers = new Headers();
    // RFC 6749, section 5.2: the scheme that the client used.
    if (error.status === 401 && request.headers.has("authorization")) {
      headers.set("www-authenticate", 'Basic realm="ctxd"');
    }
    const body = { error: error.code, error_description: error.message };
    return Response.json(body, { status: error.status, headers });
  }
  if (error instanceof AppError && error.status < 500) {
    const { status, message, retryAfter } = error;
    const code = status === 429 ? "temporarily_unavailable" : "invalid_request";
    return Response.json(
      { error: code, error_description: message },
      {
        status: status === 415 ? 400 : status,
        headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
      },
    );
  }
  throw error;
}
