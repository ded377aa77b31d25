import type { Principal } from "../http/principal.ts";
import { clientNameOf } from "./client-name.ts";

/** As what ChatGPT and the API of OpenAI make themselves known. */
const OPENAI = /^openai-mcp\b/i;
const OPENAI_HOST = /^(.+\.)?(chatgpt|openai)\.com$/;

/**
 * Whether a client is one that looks for the tools `search` and `fetch`: one of OpenAI's, by its
 * header, its message or the address at which it was allowed, or any other that says so by
 * `/mcp?connector=true`. To every other client they are two tools more of what it has.
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
