import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Ask, describeAnswer } from "../ask.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { SERVER_METADATA_PATH, ServerMetadata } from "./sign-in.ts";

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
  { ask, origin, isPublic }: { ask: Ask; origin: string; isPublic: boolean },
): Promise<Finding> {
  const { ok, warning, problem } = findingsOf(name);
  const obstacle = await findObstacle(registration, ask, origin);
  if (obstacle !== null) return problem(`${obstacle}.`);
  if (isHosted && !isPublic) {
    return warning(`could connect, but it runs on the internet, which can't reach ${origin}.`);
  }
  return ok("finds the server, registers, and opens the sign-in page");
}

/** What stops a client, as a sentence; null when nothing does. */
async function findObstacle(
  registration: Profile["registration"],
  ask: Ask,
  origin: string,
): Promise<string | null> {
  const server = (await ask(SERVER_METADATA_PATH)).json;
  if (!Value.Check(ServerMetadata, server)) return "finds no authorization server: see above";
  const { authorization_endpoint: page, registration_endpoint: register } = server;
  if (![page, register].every((address) => URL.parse(address)?.origin === origin)) {
    return `is sent away from ${origin} to sign in: see above`;
  }
  const registered = await ask(register, { method: "POST", body: registration });
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
  const opened = await ask(`${page}?${parameters}`);
  const location = opened.headers.get("location");
  const asksToSignIn =
    opened.status === 303 && URL.parse(location ?? "", origin)?.origin === origin;
  return asksToSignIn
    ? null
    : `opens a page that does not ask to sign in (${describeAnswer(opened)})`;
}
