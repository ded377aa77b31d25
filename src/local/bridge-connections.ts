import { BOUND_HEADER } from "../mcp/header-names.ts";

/** Path of the connection that each bridge keeps open. It exists on the local socket only. */
export const CONNECTION_PATH = "/presence";

/** Response header with the server's version. */
export const VERSION_HEADER = "ctxd-version";

/**
 * Counts the bridges that use this server. Each bridge reads a response that never ends: when the
 * bridge stops reading, it has gone; when the response ends, the server has gone. No side polls.
 */
export function createBridgeConnections(version: string) {
  const open = new Set<() => void>();
  let lastEnd = 0;

  return {
    count: () => open.size,
    /** When the last bridge disconnected, in `performance.now()` time; 0 if none has. */
    lastEnd: () => lastEnd,

    answer(request: Request): Response {
      let disconnect = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const close = () => controller.close();
          open.add(close);
          disconnect = () => {
            if (open.delete(close)) lastEnd = performance.now();
          };
          // The headers are sent with the first bytes of the body.
          controller.enqueue(new Uint8Array([10]));
        },
        cancel: () => disconnect(),
      });
      request.signal.addEventListener("abort", () => disconnect(), { once: true });
      const bound = request.headers.get(BOUND_HEADER);
      // Repeating the header confirms that it was understood. Earlier versions do not repeat it.
      const headers = {
        [VERSION_HEADER]: version,
        ...(bound !== null && { [BOUND_HEADER]: bound }),
      };
      return new Response(body, { headers });
    },

    /** Ends all responses. */
    end() {
      for (const close of open) close();
      open.clear();
    },
  };
}
