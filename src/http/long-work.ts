import { peerOf } from "./proxy.ts";

/** Seconds after which an idle connection is closed. */
export const IDLE_TIMEOUT = 30;

/** The part of a running server that closes idle connections. */
interface IdleTimeouts {
  /** @param seconds 0 for no limit */
  timeout(request: Request, seconds: number): void;
}

/** A handler of requests. Elysia's types do not name the type of answers. */
export type Handle = (request: Request, ...rest: unknown[]) => unknown;

const unlimited = new WeakMap<Request, IdleTimeouts>();

/** Keeps the connection of a request open until it is answered, however long the work takes. */
export function allowLongWork(request: Request, server: IdleTimeouts | null): void {
  server?.timeout(request, 0);
  if (server && peerOf(request) !== "") unlimited.set(request, server);
}

/**
 * Closes a connection whose client does not read the answer to long work. Otherwise a client could hold any number of
 * them. Each part of an answer that is read begins a new period.
 */
export function createUnreadLimit(seconds = IDLE_TIMEOUT) {
  return (handle: Handle) =>
    async (request: Request, ...rest: unknown[]) => {
      const response = await handle(request, ...rest);
      unlimited.get(request)?.timeout(request, seconds);
      return response;
    };
}
