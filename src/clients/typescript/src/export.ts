import { CtxdError } from "./error.ts";
import { readLines, readPieces } from "./lines.ts";
import type { Send } from "./send.ts";
import type { Memory } from "./types.ts";

/**
 * Memories as they come, one at a time. Who leaves the loop early ends the request.
 * @throws CtxdError `network` when the answer breaks off
 */
export async function* exportMemories(
  send: Send,
  query: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Memory, void> {
  const sending = { method: "GET", path: `/memories/export${query}`, isRepeatable: true, signal };
  const { body, patience } = await send(sending, async (response, patience) => {
    return { body: response.body, patience };
  });
  if (!body) return;
  const decoder = new TextDecoder();
  for await (const line of readLines(readPieces(body, patience))) {
    yield parse(decoder.decode(line));
  }
}

function parse(line: string): Memory {
  try {
    return JSON.parse(line) as Memory;
  } catch (cause) {
    throw new CtxdError("network", "The server's answer broke off.", { cause });
  }
}
