/** What requests that no route answers are counted as. */
const UNKNOWN = "unknown";

/**
 * Makes a function that tells the route of a request's path, as `/api/memories/:id`: what clients
 * ask for is without number, and must not be the name of anything that is counted.
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
