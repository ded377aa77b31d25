import type { Config } from "../config/config.ts";
import { isLocalhost } from "./https-rule.ts";

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
