import type { Principal } from "../http/principal.ts";
import { clientNameOf } from "./client-name.ts";

/** How ChatGPT and the OpenAI API identify themselves. */
const OPENAI = /^openai-mcp\b/i;
const OPENAI_HOST = /^(.+\.)?(chatgpt|openai)\.com$/;

/**
 * Whether a client expects the tools `search` and `fetch`. Clients of OpenAI do; their user agent,
 * client name or app address shows it. Other clients may ask for the tools by `/mcp?connector=true`.
 * For all others the two tools would duplicate existing ones.
 * @param message the body of the request
 */
export function isConnector(request: Request, message: unknown, { app = "" }: Principal): boolean {
  return (
    OPENAI.test(request.headers.get("user-agent") ?? "") ||
    OPENAI.test(clientNameOf(message) ?? "") ||
    OPENAI_HOST.test(app) ||
    URL.parse(request.url)?.searchParams.get("connector") === "true"
  );
}
