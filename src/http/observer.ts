import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { requestId } from "./request-id.ts";

/** Milliseconds from which on a request is told of without being asked. */
const SLOW = 5_000;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

/** What answers a request; Elysia's types don't say with what. */
type Handle = (request: Request, ...rest: unknown[]) => unknown;
type Observed = (request: Request, ...rest: unknown[]) => Promise<unknown>;

/**
 * Counts requests and times them until their answer begins. Each is a line of the log: at `debug`,
 * and at `info` when it took long or the server failed. What was asked and by whom is not told.
 * @param routeOf the route of a request, one of few
 */
export function createObserver({
  metrics,
  log,
  routeOf,
}: {
  metrics: Metrics;
  log: Log;
  routeOf: (request: Request) => string;
}): (handle: Handle) => Observed {
  const labels = ["method", "route", "status"] as const;
  const requests = metrics.counter("ctxd_http_requests_total", "Requests answered.", labels);
  const durations = metrics.durations(
    "ctxd_http_request_duration_seconds",
    "Time from a request's headers to its answer.",
    ["method", "route"],
  );
  let underWay = 0;
  metrics.gauge("ctxd_http_requests_in_progress", "Requests not answered yet.", () => underWay);

  return (handle) =>
    async (request, ...rest) => {
      const started = performance.now();
      underWay++;
      try {
        const response = await handle(request, ...rest);
        const ms = performance.now() - started;
        const method = METHODS.has(request.method) ? request.method : "other";
        const route = routeOf(request);
        const status = response instanceof Response ? response.status : 0;
        requests.inc({ method, route, status });
        durations.observe({ method, route }, ms / 1_000);
        // What is refused late had a slow client.
        const isSlow = ms >= SLOW && status < 400;
        const tell = status >= 500 || isSlow ? log.info : log.debug;
        tell("request", { id: requestId(request), method, route, status, ms: Math.round(ms) });
        return response;
      } finally {
        underWay--;
      }
    };
}
