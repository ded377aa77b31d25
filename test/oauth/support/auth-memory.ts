interface ClientInformation {
  client_id: string;
  client_secret?: string;
}
interface Tokens {
  access_token: string;
  token_type: string;
  refresh_token?: string;
}

/** The authorization that an MCP client stores, for the providers of both SDKs. */
export function createAuthMemory() {
  let information: ClientInformation | undefined;
  let tokens: Tokens | undefined;
  let verifier = "";

  return {
    /** The address that the client last wanted to open in the browser. */
    wanted: null as URL | null,
    redirectUrl: "http://localhost:3334/oauth/callback",
    clientMetadata: {
      client_name: "SDK client",
      redirect_uris: ["http://localhost:3334/oauth/callback"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => information,
    saveClientInformation: (saved: ClientInformation) => {
      information = saved;
    },
    tokens: () => tokens,
    saveTokens: (saved: Tokens) => {
      tokens = saved;
    },
    redirectToAuthorization(url: URL) {
      this.wanted = url;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (saved: string) => {
      verifier = saved;
    },
    invalidateCredentials(scope: string) {
      if (scope === "all" || scope === "client") information = undefined;
      if (scope === "all" || scope === "tokens") tokens = undefined;
    },
  };
}
