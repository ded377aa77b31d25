/**
 * The path on this server to redirect to after signing in; null if `next` is elsewhere. The address is
 * parsed as browsers do, which treat `//host` and `/\host` as other sites.
 */
export function localPath(next: string | null, publicUrl: string): string | null {
  if (!next?.startsWith("/")) return null;
  const url = URL.parse(next, publicUrl);
  if (url?.origin !== publicUrl) return null;
  const path = url.pathname + url.search;
  // `/.//host` is a path here, but browsers would treat it as another site.
  return path.startsWith("//") ? null : path;
}
