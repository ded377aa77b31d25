import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Context, Provider } from "oidc-provider";
import type { Config } from "../../../src/config/config.ts";
import { type OAuthServer, startOAuthServer } from "../../oauth/support/oauth-server.ts";
import { createPerson } from "../../oauth/support/person.ts";

const CLIENT = { clientId: "ctxd", clientSecret: "a secret of 32 characters, or so" };

/** The claims of a person at the provider. */
interface Claims {
  email?: string;
  email_verified?: boolean;
}

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>;

/** A server with a real OpenID provider of this name, whose only client it is. */
export async function startWithProvider(
  name: string,
  config: Partial<Config>,
): Promise<[server: OAuthServer, provider: OpenIdProvider]> {
  let provider: OpenIdProvider | null = null;
  const server = await startOAuthServer({
    config: async (origin) => {
      provider = await startOpenIdProvider(`${origin}/sign-in/with/oidc/callback`);
      const oidc = { ...CLIENT, issuer: provider.issuer, name };
      return { ...config, providers: { github: null, google: null, oidc } };
    },
  });
  if (!provider) throw new Error("the server has no settings");
  return [server, provider];
}

/**
 * A real OpenID provider that signs in, without asking, whoever the test says.
 * @param redirectUri of its one client
 */
async function startOpenIdProvider(redirectUri: string) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Claims>();
  let present = "";
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ["of the test"] },
    pkce: { required: () => true },
    interactions: { url: () => "/interaction" },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
    loadExistingGrant: async ({ oidc }: Context) => {
      const { clientId } = oidc.client;
      const { accountId } = oidc.session;
      const grant = new oidc.provider.Grant({ clientId, accountId });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    if (request.url !== "/interaction") return answer(request, response);
    provider.interactionFinished(request, response, { login: { accountId: present } });
  });

  return {
    issuer,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },

    /** What a browser does at the provider: signs in as somebody. Returns where it is sent back to. */
    async signIn(address: string | null, subject: string, claims: Claims): Promise<string> {
      people.set(subject, claims);
      present = subject;
      const page = await createPerson(issuer).visit(address ?? "");
      if (page.location === null) throw new Error(`no way back: ${page.text}`);
      return page.location;
    },
  };
}
