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
