import type { AuthorizationServer } from "oauth4webapi";
import {
  createProviderClient,
  type Identity,
  type Provider,
  type ProviderClient,
  type ProviderSecrets,
  type Registration,
  textOf,
  wrongIdToken,
} from "./provider.ts";

/** Any provider of OpenID Connect. Its issuer publishes the endpoints. */
export function createOpenId(registration: Registration & { id: string }): Provider {
  const { id, name, issuer } = registration;
  const client = createProviderClient(registration);

  let metadata: Promise<AuthorizationServer> | null = null;
  /** Reads the metadata once; after a failure, the next sign-in reads it again. */
  const discover = (): Promise<AuthorizationServer> => {
    metadata ??= client.discover().catch((error) => {
      metadata = null;
      throw error;
    });
    return metadata;
  };

  return {
    id,
    name,
    issuer,

    start: (state, { verifier, nonce }) =>
      client.run(async () => {
        const { authorization_endpoint } = await discover();
        const parameters = { state, verifier, nonce, scope: "openid email" };
        return client.authorizationUrl(authorization_endpoint, parameters);
      }),

    finish: (answer, proofs) =>
      client.run(async () => identify(client, await discover(), answer, proofs)),
  };
}

/** Redeems the answer of an OpenID provider, and reads the person from its ID token, which is checked. */
export async function identify(
  client: ProviderClient,
  server: AuthorizationServer,
  answer: URLSearchParams,
  proofs: ProviderSecrets,
): Promise<Identity> {
  const { accessToken, claims } = await client.redeem(server, answer, proofs);
  const subject = textOf(claims?.sub);
  // The library checks `azp` only where there are several audiences.
  const isOurs = claims?.azp === undefined || claims.azp === client.clientId;
  if (!claims || subject === null || !isOurs) throw wrongIdToken();
  const isComplete = claims.email !== undefined || server.userinfo_endpoint === undefined;
  const source = isComplete ? claims : await client.userInfo(server, accessToken, subject);
  return { issuer: client.issuer, subject, email: verifiedEmail(source) };
}

/** Some providers send `"true"` instead of `true`. */
function verifiedEmail(claims: Readonly<Record<string, unknown>>): string | null {
  const isVerified = claims.email_verified === true || claims.email_verified === "true";
  return isVerified ? textOf(claims.email) : null;
}
