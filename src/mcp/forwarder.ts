import { messageOf } from "../errors.ts";
import { AGENT_HEADER, PROJECT_HEADER, SESSION_HEADER } from "./header-names.ts";
import { headersOf, messagesOf } from "./http-message.ts";
import { errorAnswer, fieldsOf, INTERNAL_ERROR, requestIdOf } from "./json-rpc.ts";
import type { LocalServer } from "./local-server.ts";

/** How often a message is sent, to servers that end before they have answered it. */
const ATTEMPTS = 5;

/** Sends one message to the server and writes what is answered; resolves when that is done. */
export type Forward = (message: unknown, text: string, signal: AbortSignal) => Promise<void>;

/** On whose behalf a relay passes messages on, read for each of them; see `Session`. */
export interface Sender {
  readonly agent?: string | null;
  readonly project?: string | null;
  readonly sessionId?: string | null;
}

/**
 * Makes what passes messages on. One whose server ends is sent to the next server: with the same
 * idempotency key, so that nothing is saved twice.
 * @param write never rejects
 */
export function createForwarder({
  server,
  sender,
  write,
}: {
  server: LocalServer;
  sender: Sender;
  write: (line: string) => Promise<void>;
}): Forward {
  // What `initialize` agreed on: over HTTP, every later message has to say it.
  let negotiated: string | null = null;

  const note = (answer: unknown) => {
    const version = fieldsOf(fieldsOf(answer).result).protocolVersion;
    if (typeof version === "string") negotiated = version;
  };

  return async (message, text, signal) => {
    const id = requestIdOf(message);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "idempotency-key": crypto.randomUUID(),
      ...senderHeaders(sender),
      ...headersOf(message, negotiated),
    };

    const isAnswered = async () => {
      const response = await server.request("/mcp", {
        method: "POST",
        headers,
        body: text,
        signal,
      });
      let answered = id === null;
      for await (const line of messagesOf(response, message)) {
        const answer = fieldsOf(JSON.parse(line));
        if (answer.id === id && answer.method === undefined) answered = true;
        if (fieldsOf(message).method === "initialize") note(answer);
        await write(line);
      }
      return answered;
    };

    let reason = "The server ended before it answered.";
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        await server.connect();
      } catch (error) {
        // To start one was tried more than once already.
        reason = messageOf(error);
        break;
      }
      try {
        if (await isAnswered()) return;
      } catch (error) {
        if (signal.aborted) return;
        reason = messageOf(error);
      }
      server.forget();
    }
    if (id !== null) await write(errorAnswer(id, INTERNAL_ERROR, server.lastFailure() ?? reason));
  };
}

function senderHeaders({ agent, project, sessionId }: Sender): Record<string, string> {
  return {
    ...(agent && { [AGENT_HEADER]: encodeURIComponent(agent) }),
    ...(project && { [PROJECT_HEADER]: encodeURIComponent(project) }),
    ...(sessionId && { [SESSION_HEADER]: encodeURIComponent(sessionId) }),
  };
}
