import { afterAll, expect, test } from "bun:test";
import * as oauth from "oauth4webapi";
import { REDIRECT_URI, startOAuthServer } from "./support/oauth-server.ts";
import { createPerson } from "./support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const resource = new URL(`${server.origin}/mcp`);
const local = { [oauth.allowInsecureRequests]: true };

test("a strict OAuth client signs in after a 401, reads memories, and renews and revokes its token", async () => {
  const { id: accountId } = await server.accounts.add({
    email: "you@example.com",
    password: "correct horse",
  });

  const refused = await fetch(resource, { method: "POST" });
  expect(refused.status).toBe(401);
  const [, metadataUrl = ""] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
  expect(metadataUrl).toBe(`${server.origin}/.well-known/oauth-protected-resource/mcp`);
  const described = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, local),
  );
  const issuer = new URL(described.authorization_servers?.[0] ?? "");
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...local }),
  );

  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      { client_name: "Example", redirect_uris: [REDIRECT_URI] },
      local,
    ),
  );
  // The default method of RFC 7591, because the client named none.
  const secret = oauth.ClientSecretBasic(String(client.client_secret));
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint ?? "");
  url.search = `${new URLSearchParams({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    scope: "memories:read memories:write",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: resource.href,
    state,
  })}`;

  const person = createPerson(server.origin);
  const signInPage = await person.visit(url.href);
  expect(signInPage.text).toContain("<h1>Sign in</h1>");
  const consentPage = await person.submit(signInPage, {
    email: " You@example.com",
    password: "correct horse",
  });
  expect(consentPage.text).toContain("Example");
  expect(consentPage.text).toContain("app.example.com");
  expect(consentPage.text).toContain("you@example.com");
  const { status, location } = await person.submit(consentPage, { decision: "allow" });
  expect(status).toBe(303);
  expect(location).toStartWith(`${REDIRECT_URI}?`);

  const parameters = oauth.validateAuthResponse(as, client, new URL(location ?? ""), state);
  const tokens = await oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(
      as,
      client,
      secret,
      parameters,
      REDIRECT_URI,
      verifier,
      { additionalParameters: { resource: resource.href }, ...local },
    ),
  );
  const saved = await oauth.protectedResourceRequest(
    tokens.access_token,
    "POST",
    new URL(`${server.origin}/api/memories`),
    new Headers({ "content-type": "application/json" }),
    JSON.stringify({ content: "Tea without sugar." }),
    local,
  );
  expect(saved.status).toBe(201);
  expect((await (await server.client(accountId)).list()).memories).toHaveLength(1);

  const renewed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, secret, tokens.refresh_token ?? "", local),
  );
  expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
  expect(await server.use(renewed.access_token)).toBe(200);

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, secret, renewed.refresh_token ?? "", local),
  );
  expect(await server.use(renewed.access_token)).toBe(401);
  expect(await server.use(tokens.access_token)).toBe(401);
});

test("the endpoints at the paths that clients guess are the same", async () => {
  const { client_id: clientId } = await server.register();
  const { person } = await server.signedIn();
  const url = server.authorizeUrl(clientId).replace("/api/oauth/authorize", "/authorize");
  const page = await person.visit(url);
  const { location } = await person.submit(page, { decision: "allow" });
  const code = new URL(location ?? "").searchParams.get("code");
  const exchange = {
    grant_type: "authorization_code",
    client_id: clientId,
    code,
    code_verifier: "v".repeat(43),
  };
  const tokens = await server.post("/token", exchange);
  expect(tokens.status).toBe(200);
  expect(tokens.headers.get("cache-control")).toBe("no-store");
  const { access_token } = tokens.body as { access_token: string };
  expect(await server.use(access_token)).toBe(200);
  const gone = await server.post("/revoke", { client_id: clientId, token: access_token });
  expect(gone.status).toBe(200);
  expect(await server.use(access_token)).toBe(401);
});
