import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Ask, describeAnswer } from "../ask.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { SERVER_METADATA_PATH, ServerMetadata } from "./sign-in.ts";

const Registered = Type.Object({
  client_id: Type.String(),
  redirect_uris: Type.Array(Type.String()),
});

/** What a client registers, as its makers or its users have published it. */
interface Profile {
  readonly name: string;
  /** Runs on the internet, and reaches nothing but that. */
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
 * Takes a client's way up to where its person would sign in: registration, and the page that it
 * opens. What is registered is forgotten after a day.
 */
export async function playClient(
  { name, isHosted, registration }: Profile,
  { ask, origin, isPublic }: { ask: Ask; origin: string; isPublic: boolean },
): Promise<Finding> {
  const { ok, warning, problem } = findingsOf(name);
  const trip = await findTrip(registration, ask, origin);
  if (trip !== null) return problem(`${trip}.`);
  if (isHosted && !isPublic) {
    return warning(
      `would get in, but runs on the internet, from where ${origin} can't be reached.`,
    );
  }
  return ok("finds the server, registers, and has its person sign in");
}

/** What stops a client, as a sentence; null for nothing. */
async function findTrip(
  registration: Profile["registration"],
  ask: Ask,
  origin: string,
): Promise<string | null> {
  const server = (await ask(SERVER_METADATA_PATH)).json;
  if (!Value.Check(ServerMetadata, server)) return "finds no way to sign in: see above";
  const { authorization_endpoint: page, registration_endpoint: register } = server;
  if (![page, register].every((address) => URL.parse(address)?.origin === origin)) {
    return `is sent away from ${origin} to sign in: see above`;
  }
  const registered = await ask(register, { method: "POST", body: registration });
  if (registered.status === 429) return "can't register now, too many have: try again in an hour";
  if (registered.status !== 201 || !Value.Check(Registered, registered.json)) {
    return `can't register (${describeAnswer(registered)})`;
  }
  const { client_id, redirect_uris } = registered.json;
  if (!Bun.deepEquals(redirect_uris, registration.redirect_uris)) {
    return "is registered with other addresses than it has";
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
