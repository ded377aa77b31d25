import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ENDPOINTS, GUESSED_ENDPOINTS, RESOURCE_METADATA_PATH } from "../../oauth/discovery.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { type Answer, describeAnswer, type Send } from "../send.ts";

const ResourceMetadata = Type.Object({
  resource: Type.String(),
  authorization_servers: Type.Array(Type.String(), { minItems: 1 }),
});
/** The fields of the authorization server's metadata that clients need. */
const ServerMetadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  registration_endpoint: Type.String(),
});

const ROOT = "/.well-known/oauth-protected-resource";
const SERVER_METADATA_PATH = "/.well-known/oauth-authorization-server";

/** Sends one MCP message of the older protocol, which needs no `initialize` without sessions. */
export function callMcp(
  send: Send,
  key: string | null,
  method: string,
  params: object,
): Promise<Answer> {
  return send("/mcp", {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params },
  });
}

/** Checks that the answer to a request without a key says how to get one (RFC 9728, section 5.1). */
export async function checkChallenge(send: Send, origin: string): Promise<Finding> {
  const { ok, problem } = findingsOf("challenge");
  const answer = await callMcp(send, null, "initialize", {});
  if (answer.status !== 401) {
    return problem(
      `/mcp answers a request without a key with ${describeAnswer(answer)} instead of 401: make the proxy pass /mcp on unchanged.`,
    );
  }
  const challenge = answer.headers.get("www-authenticate") ?? "";
  const address = /resource_metadata="([^"]*)"/.exec(challenge)?.[1];
  if (address === undefined) {
    return problem(
      "the header WWW-Authenticate of the answer 401 does not arrive: make the proxy pass it on. ChatGPT needs it.",
    );
  }
  if (address !== origin + RESOURCE_METADATA_PATH)
    return problem(describeOrigin(URL.parse(address)?.origin ?? "?", origin));
  return ok("a request without a key is told how to sign in");
}

/** Checks that the header with the key or the token arrives. */
export async function checkAuthorization(send: Send): Promise<Finding> {
  const { ok, problem } = findingsOf("authorization");
  const { headers } = await callMcp(send, "ctx_none", "initialize", {});
  if (headers.get("www-authenticate")?.includes("invalid_token")) return ok("the header arrives");
  return problem(
    "the header Authorization does not reach the server: make the proxy pass it on (its own sign-in must not use it).",
  );
}

/** Checks that the documents that clients request exist and contain this address. */
export async function* checkDocuments(send: Send, origin: string): AsyncGenerator<Finding> {
  for (const path of [RESOURCE_METADATA_PATH, ROOT]) {
    const { ok, problem } = findingsOf(path);
    const answer = await send(path);
    const { json } = answer;
    if (!isDocument(answer) || !Value.Check(ResourceMetadata, json))
      yield problem(describeLoss(answer));
    else if (json.resource !== `${origin}/mcp`)
      yield problem(describeOrigin(URL.parse(json.resource)?.origin ?? "?", origin));
    else yield ok("exists");
  }
  for (const path of [SERVER_METADATA_PATH, `${SERVER_METADATA_PATH}/mcp`]) {
    const { ok, problem } = findingsOf(path);
    const answer = await send(path);
    const { json } = answer;
    if (!isDocument(answer) || !Value.Check(ServerMetadata, json))
      yield problem(describeLoss(answer));
    else if (json.issuer !== origin) yield problem(describeOrigin(json.issuer, origin));
    else yield ok("exists");
  }
  const path = "/.well-known/openid-configuration";
  const { ok, problem } = findingsOf(path);
  const answer = await send(path);
  // Clients that request this too continue after a 404. A web page confuses them.
  if (answer.status === 404 && answer.json !== undefined)
    yield ok("does not exist, which is correct");
  else yield problem(describeLoss(answer));
}

/** Checks that the endpoints answer in JSON, including those that clients guess. */
export async function checkEndpoints(send: Send): Promise<Finding> {
  const { ok, problem } = findingsOf("endpoints");
  const paths = [ENDPOINTS, GUESSED_ENDPOINTS].flatMap(({ register, token, revoke }) => [
    register,
    token,
    revoke,
  ]);
  const answers = await Promise.all(paths.map((path) => send(path, { method: "POST", body: "" })));
  const lost = answers.find(
    ({ status, json }) => json === undefined || status < 400 || status === 404,
  );
  return lost ? problem(`${lost.url.pathname} ${describeLoss(lost)}`) : ok("answer in JSON");
}

function isDocument({ status, json }: Answer): boolean {
  return status === 200 && json !== undefined;
}

function describeLoss(answer: Answer): string {
  return `is not answered by ctxd (${describeAnswer(answer)}): make the proxy pass on all paths that begin with /.well-known/, /api/ and /mcp.`;
}

function describeOrigin(publicUrl: string, origin: string): string {
  return `the server's public address is ${publicUrl}: set CTXD_PUBLIC_URL=${origin} there, or use that address.`;
}

const Registered = Type.Object({
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String()),
});

/** A client and its registration request, as its makers or users published it. */
interface Profile {
  readonly name: string;
  /** Whether it runs on the internet and reaches only public addresses. */
  readonly isHosted: boolean;
  readonly registration: Readonly<Record<string, unknown>>;
}

const GRANTS = { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };

export const PROFILES: readonly Profile[] = [
  {
    name: "Claude",
    isHosted: true,
    registration: {
      ...GRANTS,
      client_name: "Claude",
      redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
      token_endpoint_auth_method: "client_secret_post",
    },
  },
  {
    name: "ChatGPT",
    isHosted: true,
    registration: {
      ...GRANTS,
      client_name: "ChatGPT",
      redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
      token_endpoint_auth_method: "none",
    },
  },
  {
    name: "Cursor",
    isHosted: false,
    registration: {
      ...GRANTS,
      client_name: "Cursor",
      redirect_uris: [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
      ],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
  },
  {
    name: "VS Code",
    isHosted: false,
    registration: {
      client_name: "Visual Studio Code",
      redirect_uris: [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
      ],
      grant_types: [...GRANTS.grant_types, "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
  },
];

/**
 * Follows the steps of a client up to the sign-in of its user: the registration, and the page that it opens.
 * The server removes the registration after a day.
 */
export async function tryClient(
  { name, isHosted, registration }: Profile,
  { send, origin, isPublic }: { send: Send; origin: string; isPublic: boolean },
): Promise<Finding> {
  const { ok, warning, problem } = findingsOf(name);
  const obstacle = await findObstacle(registration, send, origin);
  if (obstacle !== null) return problem(`${obstacle}.`);
  if (isHosted && !isPublic) {
    return warning(`could connect, but it runs on the internet, which can't reach ${origin}.`);
  }
  return ok("finds the server, registers, and opens the sign-in page");
}

/** What stops a client, as a sentence; null when nothing does. */
async function findObstacle(
  registration: Profile["registration"],
  send: Send,
  origin: string,
): Promise<string | null> {
  const server = (await send(SERVER_METADATA_PATH)).json;
  if (!Value.Check(ServerMetadata, server)) return "finds no authorization server: see above";
  const { authorization_endpoint: page, registration_endpoint: register } = server;
  if (![page, register].every((address) => URL.parse(address)?.origin === origin)) {
    return `is sent away from ${origin} to sign in: see above`;
  }
  const registered = await send(register, { method: "POST", body: registration });
  if (registered.status === 429)
    return "can't register, because of too many registrations: try again in an hour";
  if (registered.status !== 201 || !Value.Check(Registered, registered.json)) {
    return `can't register (${describeAnswer(registered)})`;
  }
  const { client_id, redirect_uris } = registered.json;
  if (!Bun.deepEquals(redirect_uris, registration.redirect_uris)) {
    return "is registered with other redirect addresses than it sent";
  }
  const parameters = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: redirect_uris[0] ?? "",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    state: "doctor",
    resource: `${origin}/mcp`,
  });
  const opened = await send(`${page}?${parameters}`);
  const location = opened.headers.get("location");
  const asksToSignIn =
    opened.status === 303 && URL.parse(location ?? "", origin)?.origin === origin;
  return asksToSignIn
    ? null
    : `opens a page that does not ask to sign in (${describeAnswer(opened)})`;
}
