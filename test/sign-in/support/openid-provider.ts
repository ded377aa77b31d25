import { createServer } from "node:http";
import { type Context, Provider } from "oidc-provider";
import { freePort } from "../../oauth/support/oauth-server.ts";
import { createPerson } from "../../oauth/support/person.ts";

export const CLIENT = { clientId: "ctxd", clientSecret: "a secret of 32 characters, or so" };

/** The claims of a person at the provider. */
interface Claims {
  email?: string;
  email_verified?: boolean;
}

/**
 * A real OpenID provider that signs in, without asking, whoever the test says.
 * @param redirectUri of its one client
 */
export async function startOpenIdProvider(redirectUri: string) {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
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
  const server = createServer((request, response) => {
    if (request.url !== "/interaction") return answer(request, response);
    provider.interactionFinished(request, response, { login: { accountId: present } });
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));

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
