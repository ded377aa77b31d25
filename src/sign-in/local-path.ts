/**
 * The path of ours to go on at after signing in, or null when `next` leads anywhere else. What
 * counts is where a browser would go, which also reads `//host` and `/\host` as another site.
 */
export function localPath(next: string | null, publicUrl: string): string | null {
  if (!next?.startsWith("/")) return null;
  const url = URL.parse(next, publicUrl);
  if (url?.origin !== publicUrl) return null;
  const path = url.pathname + url.search;
  // `/.//host` is a path here and would be a site for the browser.
  return path.startsWith("//") ? null : path;
}
