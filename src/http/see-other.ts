/**
 * Sends a browser on to another page, to be asked for by `GET`.
 * @param cookies `Set-Cookie` headers
 */
export function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Has a browser send the form that it has just sent once more, to another path of ours. */
export function againWithForm(location: string): Response {
  return new Response(null, { status: 307, headers: { location } });
}
