import { expect } from "bun:test";
import type { OAuthServer } from "./oauth-server.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** Begins an MCP session with a token. */
export const callMcp = ({ origin }: Pick<OAuthServer, "origin">, token: string) =>
  fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(INITIALIZE),
  });

/** The `WWW-Authenticate` header of an answer with this error (RFC 6750, section 3). */
export const challenge = ({ origin }: Pick<OAuthServer, "origin">, error: string) =>
  `Bearer realm="ctxd", error="${error}", scope="memories:read memories:write", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;

/** Expects that REST and MCP refuse a token. */
export async function expectUnauthorized(server: Pick<OAuthServer, "origin">, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  for (const response of [
    await callMcp(server, token),
    await fetch(`${server.origin}/api/memories`, { headers }),
  ]) {
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(challenge(server, "invalid_token"));
    expect(await response.json()).toMatchObject({ error: { code: "unauthorized" } });
  }
}

/** Expects that the token endpoint refuses a request. */
export function expectRefused(answer: { status: number; body: unknown }, error = "invalid_grant") {
  expect(answer.body).toMatchObject({ error });
  expect(answer.status).toBe(400);
}
