import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import { ADDRESS, isFromProxy, isLocalhost } from "../http/requests/proxy.ts";
import { headersOf, SELF_DESCRIBING } from "./http-message.ts";

/**
 * Rejects requests that a foreign web page may send through a user's browser: requests with the
 * page's `Origin`, and requests for a host name whose DNS entry was changed to this machine (DNS
 * rebinding). IP addresses as host are safe from that. A trusted proxy checks the host name itself.
 * @throws AppError `forbidden`
 */
export function createOriginCheck({
  publicUrl,
  trustProxy,
}: Pick<Config, "publicUrl" | "trustProxy">): (request: Request) => void {
  const known = new URL(publicUrl);

  return (request) => {
    const host = URL.parse(request.url)?.hostname ?? "";
    const isKnown = host === known.hostname || isLocalhost(host) || ADDRESS.test(host);
    if (!isKnown && !isFromProxy(request, trustProxy)) {
      throw new AppError(
        "forbidden",
        "The server does not know this host name. Use the address in CTXD_PUBLIC_URL.",
      );
    }
    const origin = request.headers.get("origin");
    if (origin === null) return;
    const from = URL.parse(origin);
    const isOurs = from !== null && (from.origin === known.origin || isLocalhost(from.hostname));
    if (!isOurs || from.origin !== origin.toLowerCase()) {
      throw new AppError("forbidden", "The server does not answer requests from this origin.");
    }
  };
}

const VERSION_HEADER = "mcp-protocol-version";
/** Headers that repeat fields of the message. */
const REPEATED_HEADERS = [VERSION_HEADER, "mcp-method", "mcp-name"];
const ACCEPT = "application/json, text/event-stream";

/**
 * Returns the request with headers that fit its message, so that the MCP library accepts it:
 * - A client that accepts any type gets the types of the protocol.
 * - Claude sends the header of one version with a message of another
 *   (https://github.com/anthropics/claude-code/issues/93290, /92835). The specification rejects such
 *   requests to protect proxies that route by headers. ctxd does not route by headers, so requests
 *   of Claude are corrected. Requests of all other clients are rejected.
 * @param message the body, which has been read
 */
export function fixHeaders(request: Request, message: unknown, principal: Principal): Request {
  const headers = new Headers(request.headers);
  if (/^$|\*\/\*/.test(headers.get("accept") ?? "")) headers.set("accept", ACCEPT);
  if (isClaude(request, principal)) {
    const version = headers.get(VERSION_HEADER);
    for (const name of REPEATED_HEADERS) headers.delete(name);
    // A message without these fields belongs to an older version.
    const old = version !== null && version < SELF_DESCRIBING ? version : null;
    for (const [name, value] of Object.entries(headersOf(message, old))) headers.set(name, value);
  }
  const { url, method, signal } = request;
  return new Request(url, { method, headers, signal });
}

function isClaude({ headers }: Request, { app }: Principal): boolean {
  const agent = headers.get("user-agent") ?? "";
  return app === "claude.ai" || app === "claude.com" || /^claude/i.test(agent);
}
