import { AppError } from "../errors.ts";

interface Route {
  method: string;
  path: string;
}

/** The answer to a request without a route. */
interface Unrouted {
  error: AppError;
  /** Methods that the path accepts, for the `Allow` header. */
  allow: string[];
}

/** Distinguishes an unknown path (404) from a method that the path does not accept (405). */
export function createUnrouted(routes: readonly Route[]): (path: string) => Unrouted {
  const patterns = routes.map(({ method, path }) => ({
    method,
    // `/api/memories/` and `/api/memories` are the same path.
    pattern: new RegExp(`^${path.replace(/\/$/, "").replace(/:\w+/g, "[^/]+")}/?$`),
  }));
  return (path) => {
    const methods = patterns
      .filter(({ pattern }) => pattern.test(path))
      .map(({ method }) => method);
    if (methods.length === 0) {
      return { error: new AppError("not_found", "There is nothing at this path."), allow: [] };
    }
    const allow = [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)].sort();
    const message = `This path accepts only ${allow.join(", ")}.`;
    return { error: new AppError("method_not_allowed", message), allow };
  };
}
