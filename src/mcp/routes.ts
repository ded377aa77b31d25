import type { McpServer } from "@modelcontextprotocol/server";
import { type Context, Elysia } from "elysia";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { allowLongWork, type Turns } from "../http/load/turns.ts";
import type { Authorize } from "../http/principal.ts";
import type { LastAgents } from "../http/record-event.ts";
import { readBytes } from "../http/requests/body.ts";
import type { Log } from "../log.ts";
import { isBeyond, parsed } from "../text/parse-json.ts";
import { createPause } from "../timing/pause.ts";
import { isConnector } from "./connector.ts";
import { clientNameOf } from "./http-message.ts";
import type { Messages } from "./messages.ts";
import { createOriginCheck, fixHeaders } from "./request-check.ts";
import { readSessionHeaders } from "./session-headers.ts";
import type { Session } from "./tool.ts";

type Exchange = Pick<Context, "request" | "server">;

/**
 * `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions. Serves protocol
 * versions before and since 2026-07-28. The MCP library is loaded at the first request: a server starts faster
 * without it.
 * @param loadServer loads what creates the server that answers one message
 */
export function createMcpRoutes({
  loadServer,
  authorize,
  turns,
  lastAgents,
  config,
  log,
}: {
  loadServer: () => Promise<(session: Session) => McpServer>;
  authorize: Authorize;
  turns: Pick<Turns, "during">;
  /** Records which agents have called. */
  lastAgents: Pick<LastAgents, "note">;
  config: Pick<Config, "publicUrl" | "trustProxy">;
  log: Log;
}) {
  const checkSender = createOriginCheck(config);
  let loading: Promise<Messages> | null = null;
  const load = async () => {
    // Takes some 150 ms of the main thread in all. Others are answered between the parts.
    const pause = createPause();
    await import("@modelcontextprotocol/server/validators/ajv");
    await pause();
    // Most of what the next part needs.
    await import("zod/v4");
    await pause();
    const { preloadSchemas } = await import("@modelcontextprotocol/server");
    await pause();
    preloadSchemas();
    await pause();
    const [{ createMessages }, createServer] = await Promise.all([
      import("./messages.ts"),
      loadServer(),
    ]);
    return createMessages(createServer, log);
  };

  const sessionOf = async (request: Request, message: unknown): Promise<Session> => {
    const caller = await authorize(request);
    const { agentId, project, sessionId } = readSessionHeaders(request.headers);
    const principal = { ...caller, agentId };
    return {
      principal,
      agentId,
      project: principal.bound?.project ?? project,
      sessionId,
      idempotencyKey: request.headers.get("idempotency-key")?.slice(0, 255) || undefined,
      isConnector: isConnector(request, message, principal),
      inTurn: (work) => turns.during(request, principal.accountId, work),
    };
  };

  const answer = async ({ request, server }: Exchange): Promise<Response> => {
    const early = await sessionOf(request, null);
    loading ??= load();
    const messages = await loading;
    if (!messages.isMessage(request)) return messages.answer(request, early);
    const body = await readMessage(request, messages.maxBodyBytes);
    if (body === null) {
      return refusal(413, -32_000, `A message has at most ${messages.maxBodyBytes} bytes.`);
    }
    const message = parse(body);
    if (message === undefined) {
      return refusal(400, -32_700, "Parse error: the body is not valid JSON.");
    }
    // An answer may take longer than the idle timeout. Until here the connection keeps the timeout, so that nobody can hold
    // many without a valid key, or without sending a message.
    allowLongWork(request, server);
    // The body may have arrived slowly, so the request is authorized again.
    const session = await sessionOf(request, message);
    const { principal, agentId } = session;
    lastAgents.note(principal, agentId ?? clientNameOf(message));
    return messages.answer(fixHeaders(request, message, session.principal), session, message);
  };

  return new Elysia({ normalize: false })
    .onStop(async () => (await loading)?.close())
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

/** Returns null for a message that is too long. @throws AppError `malformed_request` if it does not arrive in time */
async function readMessage(request: Request, maxBytes: number): Promise<Uint8Array | null> {
  try {
    return await readBytes(request, maxBytes);
  } catch (error) {
    if (error instanceof AppError && error.code === "too_large") return null;
    throw error;
  }
}

function parse(body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body);
  return isBeyond(text) ? undefined : parsed(text);
}

/** An error for a body that is no valid message (JSON-RPC 2.0, section 5: the id is null). */
function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
