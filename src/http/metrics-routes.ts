import { Elysia } from "elysia";
import { AppError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import { isLocalhost } from "./https-rule.ts";
import { errorResponse } from "./openapi.ts";
import type { Authorize, Principal } from "./principal.ts";

/** Headers that proxies add: what has one was asked for elsewhere. */
const PROXY_HEADER = /^(forwarded|via|x-forwarded-.+|x-real-ip|cf-connecting-ip|true-client-ip)$/;
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/i;

/**
 * `GET /metrics` in Prometheus' text format: for programs on this machine, and for who has a key of
 * the owner. The numbers tell how much a server is used, which is nobody else's business.
 */
export function createMetricsRoutes({
  metrics,
  authorize,
  isOwner,
}: {
  metrics: Metrics;
  authorize: Authorize;
  isOwner: (principal: Principal) => boolean;
}) {
  return new Elysia({ tags: ["server"] }).get(
    "/metrics",
    async ({ request, server }) => {
      const isAllowed =
        isFromHere(request, server?.requestIP(request)?.address) ||
        isOwner(authorize(request, "memories:read"));
      if (!isAllowed) {
        throw new AppError("forbidden", "Metrics are for a key of the server's owner.");
      }
      return new Response(await metrics.text(), {
        headers: { "content-type": metrics.contentType },
      });
    },
    {
      detail: {
        operationId: "getMetrics",
        summary: "What the server counts, for Prometheus",
        description:
          "Needs a key of the owner that may read, or none from the server's own machine.",
        responses: {
          200: {
            description: "All metrics.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
          401: errorResponse(401),
          403: errorResponse(403),
          429: errorResponse(429),
          500: errorResponse(500),
        },
      },
    },
  );
}

function isFromHere(request: Request, address: string | undefined): boolean {
  return (
    LOOPBACK.test(address ?? "") &&
    isLocalhost(URL.parse(request.url)?.hostname ?? "") &&
    ![...request.headers.keys()].some((name) => PROXY_HEADER.test(name))
  );
}
