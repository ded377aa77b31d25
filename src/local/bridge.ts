import { fileURLToPath } from "node:url";
import { messageOf } from "../errors.ts";
import {
  AGENT_HEADER,
  errorAnswer,
  fieldsOf,
  headersOf,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  messagesOf,
  PARSE_ERROR,
  PROJECT_HEADER,
  requestIdOf,
  SESSION_HEADER,
} from "../mcp/http-message.ts";
import { readLines, TOO_LONG } from "../text/lines.ts";
import { parsed } from "../text/parse-json.ts";
import { withTimeLimit } from "../timing/time-limit.ts";
import type { LocalServer } from "./local-server.ts";

/** How often a message is sent when servers end before they answer it. */
const MAX_ATTEMPTS = 5;

/** The server that messages are forwarded to: that of the data folder, or a remote one. */
export type Server = Pick<LocalServer, "connect" | "request" | "forget" | "lastFailure" | "close">;

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
 * @param ownAnswer the answer to a message that needs no server; null for all others
 * @param write never rejects
 */
export function createForwarder({
  server,
  source,
  ownAnswer = async () => null,
  write,
}: {
  server: Server;
  source: MessageSource;
  ownAnswer?: (message: unknown) => Promise<string | null>;
  write: (line: string) => Promise<void>;
}): Forward {
  // The protocol version of `initialize`. Over HTTP, every later message has to repeat it.
  let negotiated: string | null = null;

  const noteVersion = (answer: unknown) => {
    const version = fieldsOf(fieldsOf(answer).result).protocolVersion;
    if (typeof version === "string") negotiated = version;
  };

  const deliver = async (
    message: unknown,
    text: string,
    { signal, respond }: { signal: AbortSignal; respond: (line: string) => Promise<void> },
  ) => {
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
        if (isIntroduction(message)) noteVersion(answer);
        await respond(line);
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
    if (id !== null) await respond(errorAnswer(id, INTERNAL_ERROR, server.lastFailure() ?? reason));
  };

  return async (message, text, signal) => {
    const own = await ownAnswer(message);
    if (own === null) return deliver(message, text, { signal, respond: write });
    if (isIntroduction(message)) noteVersion(JSON.parse(own));
    await write(own);
    // The server learns which agent has arrived.
    if (isIntroduction(message)) await deliver(message, text, { signal, respond: async () => {} });
  };
}

/** Whether a client says who it is. */
function isIntroduction(message: unknown): boolean {
  const { method } = fieldsOf(message);
  return method === "initialize" || method === "server/discover";
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

/** Milliseconds that a call waits for the client to name its folders. */
const ROOTS_TIMEOUT_MS = 1_000;
/** Methods whose answers depend on the current project. */
const NEEDS_FOLDERS = /^(tools\/call|prompts\/get|resources\/\w+)$/;
const REQUEST_ID = /^ctxd-roots-\d+$/;

/**
 * Asks a client which folders its user works in (2025-11-25, Roots). Editors start MCP servers in the
 * home folder or a system folder, so the working directory does not tell.
 * @param write writes one line to the client, never rejects
 */
export function createRoots(write: (line: string) => Promise<void>) {
  let folders: readonly string[] = [];
  let hasRoots = false;
  let requests = 0;
  /** Resolves when the client has answered or the time limit has passed. */
  let answered = Promise.resolve();
  let onAnswer = () => {};

  const ask = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    onAnswer = resolve;
    answered = withTimeLimit(promise, ROOTS_TIMEOUT_MS, () => {});
    const id = `ctxd-roots-${++requests}`;
    await write(JSON.stringify({ jsonrpc: "2.0", id, method: "roots/list" }));
  };

  const takeAnswer = (message: unknown) => {
    const { id, result } = fieldsOf(message);
    // Ignores the answer to an earlier request: the folders have changed since.
    if (id !== `ctxd-roots-${requests}`) return;
    const { roots } = fieldsOf(result);
    folders = Array.isArray(roots) ? roots.flatMap((root) => folderOf(fieldsOf(root).uri)) : [];
    onAnswer();
  };

  return {
    /** The folders that the client has named; empty before it has. */
    folders: () => folders,

    /** Wraps a forwarder: asks for the folders when the protocol allows it, and keeps the answers. */
    wrap(forward: Forward): Forward {
      return async (message, text, signal) => {
        const { id, method, params } = fieldsOf(message);
        const isAnswer = method === undefined && typeof id === "string" && REQUEST_ID.test(id);
        if (isAnswer) return takeAnswer(message);
        if (method === "initialize") {
          hasRoots = fieldsOf(fieldsOf(params).capabilities).roots !== undefined;
        }
        const isChange = method === "notifications/roots/list_changed";
        if (hasRoots && (isChange || method === "notifications/initialized")) await ask();
        if (typeof method === "string" && NEEDS_FOLDERS.test(method)) await answered;
        await forward(message, text, signal);
      };
    },
  };
}

function folderOf(uri: unknown): string[] {
  if (typeof uri !== "string" || !uri.startsWith("file://")) return [];
  try {
    return [fileURLToPath(uri)];
  } catch {
    // Not a path of this machine, for example a path of another host.
    return [];
  }
}

/** Bytes of a message, the same limit as over HTTP. */
const MAX_LINE_BYTES = 1 << 20;
/** Messages in flight. When there are this many, the bridge stops reading its input. */
const MAX_IN_FLIGHT = 64;

/**
 * Reads one message per line and forwards each. Resolves when the input has ended and every request
 * is answered. An invalid line is answered with an error and has no other effect.
 * @param write writes one line, resolves when the client can take the next one, never rejects
 */
export async function bridge({
  input,
  write,
  forward,
}: {
  input: AsyncIterable<Uint8Array>;
  write: (line: string) => Promise<void>;
  forward: Forward;
}): Promise<void> {
  const controllers = new Map<unknown, AbortController>();
  const inFlight = new Set<Promise<void>>();

  const begin = (message: unknown, line: string) => {
    const id = requestIdOf(message);
    const controller = new AbortController();
    if (id !== null) controllers.set(id, controller);
    const task = forward(message, line, controller.signal).finally(() => {
      inFlight.delete(task);
      if (controllers.get(id) === controller) controllers.delete(id);
    });
    inFlight.add(task);
  };

  for await (const line of readLines(input, MAX_LINE_BYTES)) {
    if (line === TOO_LONG) {
      const text = `A message has at most ${MAX_LINE_BYTES} bytes.`;
      await write(errorAnswer(null, INVALID_REQUEST, text));
      continue;
    }
    if (line.trim() === "") continue;
    const message = parsed(line);
    if (message === undefined) {
      await write(errorAnswer(null, PARSE_ERROR, "Parse error: a line is not valid JSON."));
      continue;
    }
    const { method, params } = fieldsOf(message);
    // Over HTTP, a client cancels a request by closing its connection.
    if (method === "notifications/cancelled") controllers.get(fieldsOf(params).requestId)?.abort();
    else begin(message, line);
    if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
}
