import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import { errorDescription } from "./openapi.ts";
import type { Authorize, Principal } from "./principal.ts";

/**
 * `GET /metrics` in the Prometheus text format, for a key of the owner or the local socket. The numbers
 * show how much a server is used, which is private. A request from this machine proves nothing: a proxy
 * on it may not name its client.
 */
export function createMetricsRoutes({
  metrics,
  authorize,
  isOwner,
}: {
  metrics: Metrics;
  authorize: Authorize;
  isOwner: (principal: Principal) => Promise<boolean>;
}) {
  return new Elysia({ tags: ["server"] }).get(
    "/metrics",
    async ({ request }) => {
      const principal = await authorize(request, "memories:read");
      const isAllowed = principal.via === "local" || (await isOwner(principal));
      if (!isAllowed || principal.bound) {
        throw new AppError(
          "forbidden",
          "Metrics are for a key of the server's owner that is bound to no project.",
        );
      }
      return new Response(await metrics.text(), {
        headers: { "content-type": metrics.contentType },
      });
    },
    {
      detail: {
        operationId: "getMetrics",
        summary: "The server's metrics, for Prometheus",
        description: "Needs a key of the owner that may read. The server's own socket needs none.",
        responses: {
          200: {
            description: "All metrics.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
          401: errorDescription(401),
          403: errorDescription(403),
          429: errorDescription(429),
          500: errorDescription(500),
        },
      },
    },
  );
}
