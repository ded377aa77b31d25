import { AGENT_HEADER } from "./agent-header.ts";
import { headersOf, messagesOf } from "./http-message.ts";
import {
  errorAnswer,
  fieldsOf,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  PARSE_ERROR,
  requestIdOf,
} from "./json-rpc.ts";
import { readLines, TOO_LONG } from "./lines.ts";
import type { LocalServer } from "./local-server.ts";

/** Bytes of a message, as over HTTP. */
const MAX_LINE = 1 << 20;
/** Messages under way at once: beyond that, standard input waits. */
const MAX_UNDER_WAY = 64;
/** How often a message is sent, to servers that end before they have answered it. */
const ATTEMPTS = 5;

interface Bridge {
  /** Standard input. */
  input: AsyncIterable<Uint8Array>;
  /** Writes one line; resolves when the reader has room for the next one. */
  write: (line: string) => Promise<void>;
  server: LocalServer;
  /** The agent that new memories belong to when a call names none. */
  agent: string | null;
}

/**
 * Passes messages from a client to the server and back, until the input ends and all that was
 * asked is answered. A message whose server ends is sent to the next one: with the same
 * idempotency key, so that nothing is saved twice.
 */
export async function bridge({ input, write, server, agent }: Bridge): Promise<void> {
  const underWay = new Map<unknown, AbortController>();
  const tasks = new Set<Promise<void>>();
  let negotiated: string | null = null;

  const send = async (message: unknown, text: string, signal: AbortSignal): Promise<void> => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "idempotency-key": crypto.randomUUID(),
      ...(agent !== null && { [AGENT_HEADER]: encodeURIComponent(agent) }),
      ...headersOf(message, negotiated),
    };
    const id = requestIdOf(message);
    const isAnswered = async () => {
      const response = await server.post("/mcp", { headers, body: text, signal });
      let answered = id === null;
      for await (const line of messagesOf(response, message)) {
        const answer = fieldsOf(JSON.parse(line));
        if (answer.id === id && answer.method === undefined) answered = true;
        if (fieldsOf(message).method === "initialize") {
          const version = fieldsOf(answer.result).protocolVersion;
          if (typeof version === "string") negotiated = version;
        }
        await write(line);
      }
      return answered;
    };
    let reason = "The server ended before it answered.";
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
      try {
        if (await isAnswered()) return;
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
      }
      if (!signal.aborted) server.forget();
    }
    if (id !== null && !signal.aborted) {
      await write(errorAnswer(id, INTERNAL_ERROR, server.lastFailure() ?? reason));
    }
  };

  for await (const line of readLines(input, MAX_LINE)) {
    if (line === TOO_LONG) {
      await write(errorAnswer(null, INVALID_REQUEST, `A message has at most ${MAX_LINE} bytes.`));
      continue;
    }
    if (line.trim() === "") continue;
    const message = parse(line);
    if (message === undefined) {
      await write(errorAnswer(null, PARSE_ERROR, "Parse error: a line is not valid JSON."));
      continue;
    }
    const { method, params } = fieldsOf(message);
    if (method === "notifications/cancelled") {
      // Over HTTP, a request is cancelled by hanging up.
      underWay.get(fieldsOf(params).requestId)?.abort();
      continue;
    }
    const id = requestIdOf(message);
    const controller = new AbortController();
    if (id !== null) underWay.set(id, controller);
    const task = send(message, line, controller.signal).finally(() => {
      tasks.delete(task);
      if (underWay.get(id) === controller) underWay.delete(id);
    });
    tasks.add(task);
    if (tasks.size >= MAX_UNDER_WAY) await Promise.race(tasks);
  }
  await Promise.all(tasks);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
