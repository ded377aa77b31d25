import { AppError } from "../errors.ts";

interface Route {
  method: string;
  path: string;
}

/** What to say of a request that no route answers. */
interface Unrouted {
  error: AppError;
  /** Methods that the path does answer, for the `Allow` header. */
  allow: string[];
}

/** Tells a path that isn't there (404) from a method that the path doesn't know (405). */
export function createUnrouted(routes: readonly Route[]): (path: string) => Unrouted {
  const patterns = routes.map(({ method, path }) => ({
    method,
    // `/api/memories/` and `/api/memories` are one.
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
    const message = `This path knows only ${allow.join(", ")}.`;
    return { error: new AppError("method_not_allowed", message), allow };
  };
}
