import { CtxdError } from "./error.ts";
import { readLines, readPieces } from "./lines.ts";
import type { Send } from "./send.ts";
import type { Memory } from "./types.ts";

/**
 * Yields memories one at a time as they arrive. Leaving the loop early cancels the request.
 * @throws CtxdError `network` when the response is cut off
 */
export async function* exportMemories(
  send: Send,
  query: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Memory, void> {
  const sending = { method: "GET", path: `/memories/export${query}`, isRepeatable: true, signal };
  const { body, withDeadline } = await send(sending, async (response, withDeadline) => {
    return { body: response.body, withDeadline };
  });
  if (!body) return;
  const decoder = new TextDecoder();
  for await (const line of readLines(readPieces(body, withDeadline))) {
    yield parse(decoder.decode(line));
  }
}

function parse(line: string): Memory {
  try {
    return JSON.parse(line) as Memory;
  } catch (cause) {
    throw new CtxdError("network", "The server's response was cut off.", { cause });
  }
}
