/**
 * Redirects a browser to another page, which it requests with `GET`.
 * @param cookies `Set-Cookie` headers
 */
export function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Makes a browser send its form again, to another path of this server. */
export function againWithForm(location: string): Response {
  return new Response(null, { status: 307, headers: { location } });
}
