import { BOUND_HEADER } from "./header-names.ts";

/** Where a bridge holds on to its server, on the local socket alone. */
export const PRESENCE_PATH = "/presence";

/** Header of the answer: the server's version. */
export const VERSION_HEADER = "ctxd-version";

/**
 * Answers that never end: as long as a bridge reads one, it is there, and when it ends, the bridge
 * knows that the server has gone. Neither side has to ask the other.
 */
export function createBridgeConnections(version: string) {
  const open = new Set<() => void>();
  let lastEnd = 0;

  return {
    count: () => open.size,
    /** When the last one left, as `performance.now()` has it; 0 before. */
    lastEnd: () => lastEnd,

    answer(request: Request): Response {
      let leave = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const close = () => controller.close();
          open.add(close);
          leave = () => {
            if (open.delete(close)) lastEnd = performance.now();
          };
          // Headers are sent with the first bytes.
          controller.enqueue(new Uint8Array([10]));
        },
        cancel: () => leave(),
      });
      request.signal.addEventListener("abort", () => leave(), { once: true });
      const bound = request.headers.get(BOUND_HEADER);
      // To repeat it says that it is understood, which an earlier version does not do.
      const headers = {
        [VERSION_HEADER]: version,
        ...(bound !== null && { [BOUND_HEADER]: bound }),
      };
      return new Response(body, { headers });
    },

    /** Ends all of them. */
    end() {
      for (const close of open) close();
      open.clear();
    },
  };
}
