import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Handle } from "./load/turns.ts";

const ids = new WeakMap<Request, string>();

/**
 * The id of a request, for its answer (`X-Request-Id`) and its log lines. The server always creates it:
 * ids from clients and proxies are ignored.
 */
export function requestId(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = crypto.randomUUID();
  ids.set(request, id);
  return id;
}

/** The label of requests without a route. */
const UNKNOWN = "unknown";

/**
 * Creates a function that returns the route of a request's path, such as `/api/memories/:id`. The
 * number of paths is unlimited, so that they must not become labels of metrics.
 */
export function createRouteNames(
  routes: readonly { path: string }[],
): (request: Request) => string {
  const paths = [...new Set(routes.map(({ path }) => path.replace(/(.)\/$/, "$1")))];
  const plain = new Set(paths.filter((path) => !/[:*]/.test(path)));
  const patterns = paths
    .filter((path) => !plain.has(path))
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/:\w+|\*/g, "[^/]+")}$`) }));
  return ({ url }) => {
    const start = url.indexOf("/", url.indexOf("://") + 3);
    const path = url
      .slice(start)
      .replace(/[?#].*$/s, "")
      .replace(/(.)\/$/, "$1");
    if (plain.has(path)) return path;
    return patterns.find(({ pattern }) => pattern.test(path))?.path ?? UNKNOWN;
  };
}

/** Milliseconds from which a request is logged at `info`. */
const SLOW = 5_000;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

type Observed = (request: Request, ...rest: unknown[]) => Promise<unknown>;

/**
 * Counts requests, and measures the time until their answer begins. Logs each request: at `debug`, and
 * at `info` when it was slow or the server failed. The log has neither its content nor its sender.
 * @param routeOf the route of a request; there are few
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
        // A request that is refused late had a slow client.
        const isSlow = ms >= SLOW && status < 400;
        const tell = status >= 500 || isSlow ? log.info : log.debug;
        tell("request", { id: requestId(request), method, route, status, ms: Math.round(ms) });
        return response;
      } finally {
        underWay--;
      }
    };
}
