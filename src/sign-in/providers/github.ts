import { GitHub } from "arctic";
import { isObject, type JsonObject } from "../../text/parse-json.ts";
import {
  addChallenge,
  createProviderClient,
  type Provider,
  type Registration,
  textOf,
} from "./provider.ts";

export const GITHUB = "https://github.com";
export const GITHUB_API = "https://api.github.com";

/**
 * GitHub uses OAuth without OpenID Connect: its API names the person.
 * @param site where codes are redeemed, which differs in tests; `api` likewise
 */
export function createGitHub(
  registration: Omit<Registration, "name" | "issuer">,
  { site, api }: { site: string; api: string },
): Provider {
  const { clientId, clientSecret, redirectUri } = registration;
  const github = new GitHub(clientId, clientSecret, redirectUri);
  const client = createProviderClient({ ...registration, name: "GitHub", issuer: site });
  const server = { issuer: site, token_endpoint: `${site}/login/oauth/access_token` };
  return {
    id: "github",
    name: "GitHub",
    issuer: GITHUB,

    // GitHub has PKCE since July 2025 (https://github.com/pilcrowonpaper/arctic/issues/43), arctic not yet.
    start: (state, { verifier }) =>
      addChallenge(github.createAuthorizationURL(state, ["user:email"]), verifier),

    // Arctic would redeem the code without limits of time and size, and without the verifier: our client sends it.
    finish: (answer, { verifier }) =>
      client.run(async () => {
        // GitHub publishes no metadata, so an issuer in its answer can't be compared.
        const code = new URLSearchParams({ code: answer.get("code") ?? "" });
        const { accessToken } = await client.redeem(server, code, { verifier });
        const { id } = fieldsOf(await client.read(`${api}/user`, accessToken));
        if (!Number.isSafeInteger(id)) throw new Error("the user has no id");
        const emails = await client.read(`${api}/user/emails`, accessToken);
        const primary = (Array.isArray(emails) ? emails : [])
          .map(fieldsOf)
          .find((each) => each.primary === true && each.verified === true);
        return { issuer: GITHUB, subject: `${id}`, email: textOf(primary?.email) };
      }),
  };
}

function fieldsOf(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new Error("not an object");
}
