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
