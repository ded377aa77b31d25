import { FULL_ACCESS, SCOPES } from "../keys/scopes.ts";
import { AUTH_METHODS, GRANT_TYPES, KEY_METHOD } from "./clients/client.ts";
import { ASSERTION_ALGORITHMS } from "./clients/client-assertion.ts";
import { resourceOf } from "./oauth-error.ts";

/** Published paths of the endpoints. */
export const ENDPOINTS = {
  register: "/api/oauth/register",
  authorize: "/api/oauth/authorize",
  token: "/api/oauth/token",
  revoke: "/api/oauth/revoke",
} as const;

/** Paths that clients try when they have not found or read the metadata. */
export const GUESSED_ENDPOINTS = {
  register: "/register",
  authorize: "/authorize",
  token: "/token",
  revoke: "/revoke",
} as const;

/** The path of the resource's own metadata (RFC 9728, section 3.1). */
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";

/** Paths where clients look for it: after the path of /mcp, at the root, and below the API's base. */
export const RESOURCE_METADATA_PATHS = [
  RESOURCE_METADATA_PATH,
  "/.well-known/oauth-protected-resource",
  "/api/.well-known/oauth-protected-resource",
  "/api/.well-known/oauth-protected-resource/mcp",
] as const;

/**
 * Paths where clients look for the authorization server's metadata. The issuer has no path (RFC 8414, section 3). Some
 * clients treat /mcp or the API's base as the issuer, and put the suffix before or after it.
 */
export const SERVER_METADATA_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/mcp",
  "/.well-known/oauth-authorization-server/api",
  "/api/.well-known/oauth-authorization-server",
  "/api/.well-known/oauth-authorization-server/mcp",
] as const;

/**
 * The metadata of the authorization server (RFC 8414, section 2). The issuer must equal the public
 * origin byte for byte, because clients compare it (section 3.3).
 * @param readsDocuments whether clients' metadata documents can be fetched
 */
export function serverMetadata(publicUrl: string, readsDocuments: boolean) {
  return {
    issuer: publicUrl,
    authorization_endpoint: publicUrl + ENDPOINTS.authorize,
    token_endpoint: publicUrl + ENDPOINTS.token,
    registration_endpoint: publicUrl + ENDPOINTS.register,
    revocation_endpoint: publicUrl + ENDPOINTS.revoke,
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: [...AUTH_METHODS, KEY_METHOD],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: [...AUTH_METHODS, KEY_METHOD],
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    // RFC 9207, section 3.
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: readsDocuments,
    // RFC 9728, section 4.
    protected_resources: [resourceOf(publicUrl)],
    service_documentation: `${publicUrl}/docs`,
  };
}

/** The metadata of the MCP endpoint (RFC 9728, section 2). */
export function resourceMetadata(publicUrl: string) {
  return {
    resource: resourceOf(publicUrl),
    resource_name: "ctxd",
    authorization_servers: [publicUrl],
    // MCP, "Scope Selection Strategy": clients request all of these.
    scopes_supported: FULL_ACCESS,
    bearer_methods_supported: ["header"],
    resource_documentation: `${publicUrl}/docs`,
  };
}
