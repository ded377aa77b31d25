import { Google } from "arctic";
import { identify } from "./openid.ts";
import { createProviderClient, type Provider, type Registration } from "./provider.ts";

/**
 * What Google publishes at https://accounts.google.com/.well-known/openid-configuration, except for the
 * address that browsers are sent to, which arctic knows.
 */
export const GOOGLE = {
  issuer: "https://accounts.google.com",
  token_endpoint: "https://oauth2.googleapis.com/token",
  userinfo_endpoint: "https://openidconnect.googleapis.com/v1/userinfo",
  authorization_response_iss_parameter_supported: true,
};

/** @param server differs in tests */
export function createGoogle(
  registration: Omit<Registration, "name" | "issuer">,
  server: typeof GOOGLE,
): Provider {
  const { clientId, clientSecret, redirectUri } = registration;
  const google = new Google(clientId, clientSecret, redirectUri);
  const { issuer } = server;
  const client = createProviderClient({ ...registration, name: "Google", issuer });
  return {
    id: "google",
    name: "Google",
    issuer,

    start: async (state, { verifier, nonce }) => {
      const url = google.createAuthorizationURL(state, verifier, ["openid", "email"]);
      url.searchParams.set("nonce", nonce);
      return url;
    },

    // Arctic would redeem the code without limits of time and size, follow redirects and check no claims:
    // our client sends it.
    finish: (answer, proofs) => client.run(() => identify(client, server, answer, proofs)),
  };
}
