import type { Config } from "../config.ts";
import { isLocalhost } from "./https-rule.ts";

/** What a web page needs to speak MCP to this server and to read why it is refused. */
const HEADERS = {
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, ctxd-agent, ctxd-project, ctxd-session",
  "access-control-expose-headers": "WWW-Authenticate, MCP-Protocol-Version, Mcp-Session-Id",
  "access-control-max-age": "600",
};

/**
 * Lets web pages of the server itself and of this machine, as the MCP Inspector, read what `/mcp`
 * answers; those of others are refused by their origin there. Credentials are never a browser's own:
 * a page has to have a token.
 * @returns a function that gives the headers to add to an answer, none for most requests
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
