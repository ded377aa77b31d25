import type { Account } from "../accounts/accounts.ts";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import type { Credential } from "../keys/reach.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import type { MemorySource } from "../memories/memory.ts";
import { PROOF_PATH } from "../sign-in/paths.ts";
import type { Sessions } from "../sign-in/sessions.ts";
import type { Visitors } from "../sign-in/visitor.ts";

/** The credential of a person who uses the dashboard: their account, whichever session it is. */
export function credentialOf({ email, id }: Pick<Account, "email" | "id">): Credential {
  return { by: email, id };
}

/** What a person writes in the dashboard comes from. */
export function ownSource(account: Pick<Account, "email" | "id">): MemorySource {
  return { via: "dashboard", ...credentialOf(account) };
}

const READING = ["GET", "HEAD"];
/** What takes all memories at once: as on the dashboard's page, for a fresh proof alone. */
const EXPORT = /^\/api\/memories\/export\/?$/;

/**
 * Makes the dashboard's session a way in to the API, for our own pages alone: a browser sends its
 * cookie with requests of other sites too (CSRF), so one that writes has to say that it is ours, and
 * one that reads must not say otherwise.
 * @returns a function that tells who is behind a request; null for nobody
 * @throws AppError `forbidden` when it comes from another site, and for an export without a fresh proof
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

  /** Exports that have begun: they may take longer than a proof is fresh. */
  const begun = new WeakSet<Request>();

  return async (request) => {
    const { pathname = "" } = URL.parse(request.url) ?? {};
    if (!pathname.startsWith("/api/")) return null;
    const person = await visitors.find(request);
    if (person === null) return null;
    if (!isOurs(request)) {
      throw new AppError(
        "forbidden",
        "The session of the dashboard is for its own pages: elsewhere, use an API key.",
      );
    }
    if (EXPORT.test(pathname) && !begun.has(request)) {
      if (!(await sessions.isProved(person.session))) {
        throw new AppError(
          "forbidden",
          `The session of the dashboard exports after a fresh proof alone: open ${PROOF_PATH} first, or use an API key.`,
        );
      }
      begun.add(request);
    }
    const { account } = person;
    const credential = credentialOf(account);
    return { accountId: account.id, scopes: FULL_ACCESS, bound: null, via: "session", credential };
  };
}
