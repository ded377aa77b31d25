/**
 * The cookies of our pages. `session`: a signed-in person. `pending`: a person whose second step is
 * due. `visit`: anyone with a form. `notice`: a message for the next page. `device`: a browser in which
 * people have signed in before.
 */
type CookieName = "session" | "pending" | "visit" | "notice" | "device";

export type Cookies = ReturnType<typeof createCookies>;

/**
 * Reads and writes the cookies of our pages. Over HTTPS their names begin with `__Host-`, so that
 * neither a sibling domain nor plain HTTP can set them (RFC 6265bis, section 4.1.3.2). They are `Lax`
 * because people come to the consent page from other sites.
 */
export function createCookies({ publicUrl }: { publicUrl: string }) {
  const isSecure = publicUrl.startsWith("https:");
  const nameOf = (name: CookieName) => `${isSecure ? "__Host-" : ""}ctxd-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;

  return {
    read(request: Request, name: CookieName): string | null {
      const prefix = `${nameOf(name)}=`;
      const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
      return pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) || null;
    },

    /** A `Set-Cookie` header. @param lifetime in milliseconds; null until the browser closes */
    set: (name: CookieName, value: string, lifetime: number | null): string =>
      `${nameOf(name)}=${value}; ${attributes}${lifetime === null ? "" : `; Max-Age=${lifetime / 1000}`}`,

    /** A `Set-Cookie` header that removes a cookie. */
    clear: (name: CookieName): string => `${nameOf(name)}=; ${attributes}; Max-Age=0`,
  };
}
