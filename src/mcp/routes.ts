import {
  createMcpHandler,
  isJsonContentType,
  type McpServer,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { type Context, Elysia } from "elysia";
import type { Config } from "../config.ts";
import type { LastAgents } from "../http/last-agents.ts";
import type { Authorize } from "../http/principal.ts";
import type { Log } from "../log.ts";
import { parseJson } from "../parse-json.ts";
import { clientNameOf } from "./client-name.ts";
import { isConnector } from "./connector.ts";
import { fixHeaders } from "./header-fixes.ts";
import { createOriginCheck } from "./origin-check.ts";
import type { Session } from "./session.ts";
import { readSessionHeaders } from "./session-headers.ts";

/**
 * Bytes of a message: enough for a content of 32,768 escaped characters. The MCP library fails on
 * URIs of more than a million characters.
 */
const MAX_BODY_BYTES = 1_000_000;

type Asked = Pick<Context, "request" | "server">;

/**
 * `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions. Serves protocol
 * versions before and since 2026-07-28.
 * @param createServer creates the server that answers one message
 */
export function createMcpRoutes({
  createServer,
  authorize,
  lastAgents,
  config,
  log,
}: {
  createServer: (session: Session) => McpServer;
  authorize: Authorize;
  /** Records which agents have called. */
  lastAgents: Pick<LastAgents, "note">;
  config: Pick<Config, "publicUrl" | "trustProxy">;
  log: Log;
}) {
  const checkSender = createOriginCheck(config);
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

  const pass = (request: Request, session: Session, parsedBody?: unknown) => {
    sessions.set(request, session);
    return handler.fetch(request, { parsedBody });
  };

  /** Reads the body once, here: the library would keep a copy of it. */
  const answer = async ({ request, server }: Asked): Promise<Response> => {
    const early = await sessionOf(request, null, authorize);
    // A stream may stay silent for longer than the idle timeout. Connections without a valid key keep the timeout, so
    // that nobody can hold many of them.
    server?.timeout(request, 0);
    if (request.method !== "POST" || !isJsonContentType(request.headers.get("content-type"))) {
      return pass(request, early);
    }
    const body = await readRequestBody(request, MAX_BODY_BYTES);
    if (body.tooLarge) {
      return refusal(413, -32_000, `A message has at most ${MAX_BODY_BYTES} bytes.`);
    }
    const message = parse(body.text);
    if (message === undefined) {
      return refusal(400, -32_700, "Parse error: the body is not valid JSON.");
    }
    // The body may have arrived slowly, so the request is authorized again.
    const session = await sessionOf(request, message, authorize);
    const { principal, agentId } = session;
    lastAgents.note(principal.accountId, agentId ?? clientNameOf(message));
    return pass(fixHeaders(request, message, session.principal), session, message);
  };

  return new Elysia({ normalize: false })
    .onStop(() => handler.close())
    .all(
      "/mcp",
      async ({ request, server }) => {
        checkSender(request);
        const response = await answer({ request, server });
        // The app sets a stricter header.
        response.headers.delete("cache-control");
        return response;
      },
      { parse: "none", detail: { hide: true } },
    );
}

async function sessionOf(
  request: Request,
  message: unknown,
  authorize: Authorize,
): Promise<Session> {
  const asker = await authorize(request);
  const { agentId, project, sessionId } = readSessionHeaders(request.headers);
  const principal = { ...asker, agentId };
  return {
    principal,
    agentId,
    project: principal.bound?.project ?? project,
    sessionId,
    idempotencyKey: request.headers.get("idempotency-key")?.slice(0, 255) || undefined,
    isConnector: isConnector(request, message, principal),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** An error for a body that is no valid message (JSON-RPC 2.0, section 5: the id is null). */
function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
