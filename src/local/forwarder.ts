import { messageOf } from "../errors.ts";
import {
  AGENT_HEADER,
  errorAnswer,
  fieldsOf,
  headersOf,
  INTERNAL_ERROR,
  messagesOf,
  PROJECT_HEADER,
  requestIdOf,
  SESSION_HEADER,
} from "../mcp/http-message.ts";
import type { LocalServer } from "./local-server.ts";

/** How often a message is sent when servers end before they answer it. */
const MAX_ATTEMPTS = 5;

/** Sends one message to the server and writes the answers; resolves when that is done. */
export type Forward = (message: unknown, text: string, signal: AbortSignal) => Promise<void>;

/** Headers of all messages; see `Session`. The project is asked for again for each message. */
interface MessageSource {
  readonly agent?: string | null;
  readonly project?: () => Promise<string | null>;
  readonly sessionId?: string | null;
}

/**
 * Forwards the messages of one client. A message whose server ends is sent to the next server with
 * the same idempotency key, so that nothing is saved twice.
 * @param write never rejects
 */
export function createForwarder({
  server,
  source,
  write,
}: {
  server: LocalServer;
  source: MessageSource;
  write: (line: string) => Promise<void>;
}): Forward {
  // The protocol version of `initialize`. Over HTTP, every later message has to repeat it.
  let negotiated: string | null = null;

  const noteVersion = (answer: unknown) => {
    const version = fieldsOf(fieldsOf(answer).result).protocolVersion;
    if (typeof version === "string") negotiated = version;
  };

  return async (message, text, signal) => {
    const id = requestIdOf(message);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "idempotency-key": crypto.randomUUID(),
      ...(await sourceHeaders(source)),
      ...headersOf(message, negotiated),
    };

    /** Sends the message once. Returns whether it was answered completely. */
    const send = async () => {
      const response = await server.request("/mcp", {
        method: "POST",
        headers,
        body: text,
        signal,
      });
      let isAnswered = id === null;
      for await (const line of messagesOf(response, message)) {
        const answer = fieldsOf(JSON.parse(line));
        if (answer.id === id && answer.method === undefined) isAnswered = true;
        if (fieldsOf(message).method === "initialize") noteVersion(answer);
        await write(line);
      }
      return isAnswered;
    };

    let reason = "The server ended before it answered.";
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        await server.connect();
      } catch (error) {
        // `connect` has already tried several starts.
        reason = messageOf(error);
        break;
      }
      try {
        if (await send()) return;
      } catch (error) {
        if (signal.aborted) return;
        reason = messageOf(error);
      }
      server.forget();
    }
    if (id !== null) await write(errorAnswer(id, INTERNAL_ERROR, server.lastFailure() ?? reason));
  };
}

async function sourceHeaders(source: MessageSource): Promise<Record<string, string>> {
  const { agent, sessionId } = source;
  const project = await source.project?.();
  return {
    ...(agent && { [AGENT_HEADER]: encodeURIComponent(agent) }),
    ...(project && { [PROJECT_HEADER]: encodeURIComponent(project) }),
    ...(sessionId && { [SESSION_HEADER]: encodeURIComponent(sessionId) }),
  };
}
