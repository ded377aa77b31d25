import {
  errorAnswer,
  fieldsOf,
  INVALID_REQUEST,
  PARSE_ERROR,
  requestIdOf,
} from "../mcp/http-message.ts";
import { readLines, TOO_LONG } from "../text/lines.ts";
import type { Forward } from "./forwarder.ts";

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
    const message = parse(line);
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

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
