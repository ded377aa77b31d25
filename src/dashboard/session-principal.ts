import type { Account } from "../accounts/account.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import type { Credential } from "../keys/reach.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import type { MemorySource } from "../memories/model/memory.ts";
import { PROOF_PATH } from "../sign-in/paths.ts";
import type { Sessions } from "../sign-in/sessions/sessions.ts";
import type { Visitors } from "../sign-in/sessions/visitor.ts";

/** The credential of a person who uses the dashboard. It is the account's in every session. */
export function credentialOf({ email, id }: Pick<Account, "email" | "id">): Credential {
  return { by: email, id };
}

/** The source of memories that a person writes in the dashboard. */
export function ownSource(account: Pick<Account, "email" | "id">): MemorySource {
  return { via: "dashboard", ...credentialOf(account) };
}

const READING = ["GET", "HEAD"];
/** The export of all memories. Like the dashboard's export page, it needs a fresh proof. */
const EXPORT = /^\/api\/memories\/export\/?$/;

/**
 * Accepts the dashboard's session for requests to the API, but only from the dashboard's own pages. A browser also
 * sends the cookie with requests of other sites (CSRF). So a writing request must prove by its headers that it comes
 * from this origin, and a reading request must not come from another one.
 * @returns a function that returns the principal of a request; null if it has no session
 * @throws AppError `forbidden` for requests of other sites, and for an export without a fresh proof
 */
export function createSessionPrincipal({
  publicUrl,
  visitors,
  sessions,
}: Pick<Config, "publicUrl"> & {
  visitors: Pick<Visitors, "find">;
  sessions: Pick<Sessions, "isProved">;
}): (request: Request) => Promise<Principal | null> {
  const isOurs = (request: Request): boolean => {
    const origin = request.headers.get("origin");
    const site = request.headers.get("sec-fetch-site");
    const isReading = READING.includes(request.method);
    if (origin !== null && origin !== publicUrl) return false;
    if (site !== null && site !== "same-origin") return isReading && site === "none";
    return isReading || origin !== null || site !== null;
  };

  /** Exports that have begun. They may take longer than a proof stays fresh. */
  const begun = new WeakSet<Request>();

  return async (request) => {
    const { pathname = "" } = URL.parse(request.url) ?? {};
    if (!pathname.startsWith("/api/")) return null;
    const person = await visitors.find(request);
    if (person === null) return null;
    if (!isOurs(request)) {
      throw new AppError(
        "forbidden",
        "The dashboard's session works only for the dashboard's own pages. Elsewhere, use an API key.",
      );
    }
    if (EXPORT.test(pathname) && !begun.has(request)) {
      if (!(await sessions.isProved(person.session))) {
        throw new AppError(
          "forbidden",
          `An export with the dashboard's session needs a fresh proof. Open ${PROOF_PATH} first, or use an API key.`,
        );
      }
      begun.add(request);
    }
    const { account } = person;
    const credential = credentialOf(account);
    return { accountId: account.id, scopes: FULL_ACCESS, bound: null, via: "session", credential };
  };
}
