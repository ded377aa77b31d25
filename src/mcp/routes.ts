import {
  createMcpHandler,
  isJsonContentType,
  type McpServer,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { Elysia } from "elysia";
import type { Config } from "../config.ts";
import type { Arrivals } from "../http/arrivals.ts";
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
 * Bytes of a message: a memory's content of 32,768 characters, each escaped, and what is around. The
 * library fails on addresses of more than a million characters.
 */
const MAX_BODY = 1_000_000;

/**
 * `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions, in both eras.
 * @param createServer makes what answers one message
 */
export function createMcpRoutes({
  createServer,
  authorize,
  arrivals,
  config,
  log,
}: {
  createServer: (session: Session) => McpServer;
  authorize: Authorize;
  /** Is told of every agent. */
  arrivals: Pick<Arrivals, "note">;
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
      maxRequestBodySize: MAX_BODY,
      onerror: ({ message }) => log.debug("mcp_refused", { message }),
    },
  );

  const pass = (request: Request, session: Session, parsedBody?: unknown) => {
    sessions.set(request, session);
    return handler.fetch(request, { parsedBody });
  };

  /** The body is read here, once: the library would keep a copy of it. */
  const answer = async (request: Request): Promise<Response> => {
    const asker = await sessionOf(request, null, authorize);
    if (request.method !== "POST" || !isJsonContentType(request.headers.get("content-type"))) {
      return pass(request, asker);
    }
    const body = await readRequestBody(request, MAX_BODY);
    if (body.tooLarge) return refusal(413, -32_000, `A message has at most ${MAX_BODY} bytes.`);
    const message = parse(body.text);
    if (message === undefined) {
      return refusal(400, -32_700, "Parse error: the body is not valid JSON.");
    }
    // The body may have come slowly: who may no longer ask is not answered.
    const session = await sessionOf(request, message, authorize);
    const { principal, agentId } = session;
    arrivals.note(principal.accountId, agentId ?? clientNameOf(message));
    return pass(fixHeaders(request, message, session.principal), session, message);
  };

  return new Elysia({ normalize: false })
    .onStop(() => handler.close())
    .all(
      "/mcp",
      async ({ request, server }) => {
        checkSender(request);
        // A stream may be silent for longer than an idle connection lives.
        server?.timeout(request, 0);
        const response = await answer(request);
        // The app's own header is stricter than that of a stream.
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

/** An error before there is a message to answer (JSON-RPC 2.0, section 5: its id is null). */
function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
