import { hashSecret, isSameSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";

/**
 * The cookies of our pages. `session`: a signed-in person. `pending`: a person whose second step is due. `visit`:
 * anyone with a form. `notice`: a message for the next page. `device`: a browser in which people have signed in before.
 * `theme`: the colours that were chosen in this browser. `space`: the space whose memories the dashboard shows.
 */
type CookieName = "session" | "pending" | "visit" | "notice" | "device" | "theme" | "space";

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

/** The field of every form that proves that the form came from our pages. */
export const FORM_TOKEN = "form_token";

/** The field that names the space in which a form was opened. */
export const FORM_SPACE = "form_space";

/** The token for forms that are opened in a space. `PostForm` makes two fields of it. */
export function tokenIn(spaceId: string, token: string): string {
  return `${token} ${spaceId}`;
}

/**
 * The token for the forms of one browser. It is computed from a cookie that no other site can read, and
 * does not reveal the cookie.
 */
export function formToken(cookie: string): string {
  return hashSecret(`form ${cookie}`);
}

/**
 * The token for a link that begins an action of the person with these forms.
 * @param token of the forms
 */
export function linkProof(token: string): string {
  return hashSecret(`link ${token}`);
}

/**
 * Refuses a form that another site has sent, also through a person's browser (CSRF). It checks the
 * origin that the browser reports, and the form's token.
 * @param cookie the cookie that the form's token was computed from
 * @throws AppError `forbidden`
 */
export function checkForm(
  request: Request,
  { token, cookie, publicUrl }: { token: string | null; cookie: string | null; publicUrl: string },
): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  const isOurs =
    (origin === null || origin === publicUrl) && (site === null || site === "same-origin");
  if (isOurs && token && cookie && isSameSecret(token, formToken(cookie))) return;
  throw new AppError(
    "forbidden",
    "This form has expired or did not come from this server. Go back, reload the page and try again.",
  );
}

/** Milliseconds for which a notice waits for its page. */
const LIFETIME = 60_000;

/**
 * A message about the result of a form, shown once on the page after its redirect. A cookie carries it.
 * It is signed with the session, because other servers on this host could set the cookie too.
 */
export function createNotices({ cookies }: { cookies: Cookies }) {
  const seal = (text: string, session: string) => hashSecret(`notice ${session} ${text}`);

  return {
    /** The `Set-Cookie` header that carries a notice. */
    leave: (text: string, session: string): string =>
      cookies.set(
        "notice",
        `${Buffer.from(text).toString("hex")}.${seal(text, session)}`,
        LIFETIME,
      ),

    /** The notice of a request; null for none. */
    read(request: Request, session: string): string | null {
      const [hex = "", sealed = ""] = cookies.read(request, "notice")?.split(".") ?? [];
      const text = Buffer.from(hex, "hex").toString();
      return text !== "" && isSameSecret(sealed, seal(text, session)) ? text : null;
    },

    /** The `Set-Cookie` header that removes the notice. */
    clear: (): string => cookies.clear("notice"),
  };
}
