import { createMcpHandler, isJsonContentType, type McpServer } from "@modelcontextprotocol/server";
import type { Log } from "../log.ts";
import type { Session } from "./tool.ts";

/**
 * Bytes of a message: enough for a content of 32,768 escaped characters. The MCP library fails on
 * URIs of more than a million characters.
 */
const MAX_BODY_BYTES = 1_000_000;

export type Messages = ReturnType<typeof createMessages>;

/**
 * Reads and answers messages with the MCP library.
 * @param createServer creates the server that answers one message
 */
export function createMessages(createServer: (session: Session) => McpServer, log: Log) {
  const sessions = new WeakMap<Request, Session>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const session = requestInfo && sessions.get(requestInfo);
      if (!session) throw new Error("a message came without its session");
      return createServer(session);
    },
    {
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: ({ message }) => log.debug("mcp_refused", { message }),
    },
  );

  return {
    maxBodyBytes: MAX_BODY_BYTES,

    /** Whether a request has a message as its body. */
    isMessage: ({ method, headers }: Request): boolean =>
      method === "POST" && isJsonContentType(headers.get("content-type")),

    /** @param parsedBody the message, if the body has been read: the library would keep a copy of it */
    answer(request: Request, session: Session, parsedBody?: unknown): Promise<Response> {
      sessions.set(request, session);
      return handler.fetch(request, { parsedBody });
    },

    close: () => handler.close(),
  };
}
