import { hashSecret, isSameSecret } from "../db/id.ts";
import type { Cookies } from "./sessions/form-token.ts";

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
