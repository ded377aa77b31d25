import type { Config } from "../config/config.ts";
import { isHttpsAtProxy, isLocalhost } from "./requests/proxy.ts";

/**
 * Headers of every answer. Answers hold private data: no caching, no frames, no guessing of their type.
 * A page that loads anything sets its own Content-Security-Policy.
 */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** A year, in which a browser that has used HTTPS here uses nothing else. */
const POLICY = { "strict-transport-security": "max-age=31536000" };

/**
 * Tells browsers to use only HTTPS (RFC 6797, section 7.1). The header is sent over HTTPS, whether ours
 * or that of a trusted proxy, and under the server's public name. It is never sent for names of this
 * machine, where it would apply to every port.
 * @returns a function that returns the headers to add to an answer, or null
 */
export function createStrictTransport({
  publicUrl,
  tls,
  trustProxy,
}: Pick<Config, "publicUrl" | "tls" | "trustProxy">): (request: Request) => typeof POLICY | null {
  const { protocol, hostname } = new URL(publicUrl);
  const isPublic = protocol === "https:" && !isLocalhost(hostname);
  return (request) => {
    if (tls) return isLocalhost(URL.parse(request.url)?.hostname ?? "localhost") ? null : POLICY;
    return isPublic && isHttpsAtProxy(request, trustProxy) ? POLICY : null;
  };
}

/** The headers that a web page needs to use MCP here and to read why it was refused. */
const HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, ctxd-agent, ctxd-project, ctxd-session",
  "access-control-expose-headers": "WWW-Authenticate, MCP-Protocol-Version, Mcp-Session-Id",
  "access-control-max-age": "600",
};

/**
 * Allows web pages of the server and of this machine, such as the MCP Inspector, to read the answers of
 * `/mcp`. That path refuses other pages by their origin. Browsers add no credentials: a page needs a
 * token.
 * @returns a function that returns the headers to add to an answer; null for most requests
 */
export function createCors({
  publicUrl,
}: Pick<Config, "publicUrl">): (request: Request) => Record<string, string> | null {
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null || URL.parse(request.url)?.pathname !== "/mcp") return null;
    const from = URL.parse(origin);
    const isKnown = origin === publicUrl || (from?.origin === origin && isLocalhost(from.hostname));
    return isKnown ? { ...HEADERS, "access-control-allow-origin": origin, vary: "Origin" } : null;
  };
}
