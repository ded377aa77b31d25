import { readLines, TOO_LONG } from "../lines.ts";
import type { Forward } from "./forwarder.ts";
import { errorAnswer, fieldsOf, INVALID_REQUEST, PARSE_ERROR, requestIdOf } from "./json-rpc.ts";

/** Bytes of a message, as over HTTP. */
const MAX_LINE = 1 << 20;
/** Messages under way at once: beyond that, standard input waits. */
const MAX_UNDER_WAY = 64;

/**
 * Reads messages, one a line, and has each passed on, until the input ends and all that was asked
 * is answered. What is no message is told so, and changes nothing.
 * @param write writes one line, resolves when the reader has room for the next one, never rejects
 */
export async function bridge({
  input,
  write,
  relay,
}: {
  input: AsyncIterable<Uint8Array>;
  write: (line: string) => Promise<void>;
  relay: Forward;
}): Promise<void> {
  const underWay = new Map<unknown, AbortController>();
  const tasks = new Set<Promise<void>>();

  const begin = (message: unknown, line: string) => {
    const id = requestIdOf(message);
    const controller = new AbortController();
    if (id !== null) underWay.set(id, controller);
    const task = relay(message, line, controller.signal).finally(() => {
      tasks.delete(task);
      if (underWay.get(id) === controller) underWay.delete(id);
    });
    tasks.add(task);
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
    // Over HTTP, a request is cancelled by hanging up.
    if (method === "notifications/cancelled") underWay.get(fieldsOf(params).requestId)?.abort();
    else begin(message, line);
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
