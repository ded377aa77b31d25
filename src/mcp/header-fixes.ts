import type { Principal } from "../http/principal.ts";
import { headersOf } from "./http-message.ts";

/** The first version whose requests say in themselves what they are. */
const SELF_DESCRIBING = "2026-07-28";
const VERSION = "mcp-protocol-version";
/** Headers that repeat what the message says. */
const REPEATING = [VERSION, "mcp-method", "mcp-name"];
const ACCEPT = "application/json, text/event-stream";

/**
 * The request with the headers that its message asks for, where these would be in its way:
 * - a client that accepts anything accepts what the protocol answers with;
 * - Claude sends the header of one version with a message of another
 *   (https://github.com/anthropics/claude-code/issues/93290, /92835). The specification has such
 *   requests refused, for whoever stands between and goes by headers; nobody here does. Every other
 *   client is held to it.
 * @param message the body, which has been read
 */
export function fixHeaders(request: Request, message: unknown, principal: Principal): Request {
  const headers = new Headers(request.headers);
  if (/^$|\*\/\*/.test(headers.get("accept") ?? "")) headers.set("accept", ACCEPT);
  if (isClaude(request, principal)) {
    const version = headers.get(VERSION);
    for (const name of REPEATING) headers.delete(name);
    // A message that says nothing is one of an older version.
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
