import { hashSecret, isSameSecret } from "../db/secret.ts";
import type { Cookies } from "./cookies.ts";

/** How long a notice waits for its page, in milliseconds. */
const LIFETIME = 60_000;

/**
 * What a form has done, to be said once on the page that follows its redirect: carried by a cookie,
 * and sealed by the session, since other servers on this host could set the cookie too.
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

    /** The notice that came with a request; null for none. */
    read(request: Request, session: string): string | null {
      const [hex = "", sealed = ""] = cookies.read(request, "notice")?.split(".") ?? [];
      const text = Buffer.from(hex, "hex").toString();
      return text !== "" && isSameSecret(sealed, seal(text, session)) ? text : null;
    },

    /** The `Set-Cookie` header that takes it away. */
    clear: (): string => cookies.clear("notice"),
  };
}
