const CODE_FLOW = {
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
};

/** The registration requests of real clients. */
export const REGISTRATIONS = {
  Claude: {
    ...CODE_FLOW,
    client_name: "Claude",
    redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    token_endpoint_auth_method: "client_secret_post",
    scope: "memories:read memories:write",
  },
  ChatGPT: {
    ...CODE_FLOW,
    client_name: "ChatGPT",
    redirect_uris: ["https://chatgpt.com/connector/oauth/AbC123"],
    token_endpoint_auth_method: "none",
    application_type: "web",
  },
  "ChatGPT, as it was": {
    ...CODE_FLOW,
    client_name: "ChatGPT",
    redirect_uris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
    token_endpoint_auth_method: "none",
  },
  Cursor: {
    ...CODE_FLOW,
    client_name: "Cursor",
    redirect_uris: [
      "cursor://anysphere.cursor-mcp/oauth/callback",
      "https://www.cursor.com/agents/mcp/oauth/callback",
      "http://localhost:8787/callback",
    ],
    token_endpoint_auth_method: "none",
  },
  "VS Code": {
    ...CODE_FLOW,
    client_name: "Visual Studio Code",
    client_uri: "https://code.visualstudio.com",
    grant_types: [...CODE_FLOW.grant_types, "urn:ietf:params:oauth:grant-type:device_code"],
    redirect_uris: [
      "https://insiders.vscode.dev/redirect",
      "https://vscode.dev/redirect",
      "http://127.0.0.1/",
      "http://127.0.0.1:33418/",
    ],
    token_endpoint_auth_method: "none",
    application_type: "native",
  },
} as const;
