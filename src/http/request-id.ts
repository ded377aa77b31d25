const ids = new WeakMap<Request, string>();

/**
 * The name of a request, for its answer (`X-Request-Id`) and its lines in the log. It is always
 * ours: one that a client or a proxy sends is not believed.
 */
export function requestId(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = crypto.randomUUID();
  ids.set(request, id);
  return id;
}
