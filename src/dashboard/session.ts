import type { Account } from "../accounts/account.ts";
import type { Space } from "../accounts/space.ts";
import type { Config } from "../config/config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import type { RecordEvent } from "../http/record-event.ts";
import { type Keys, keyFacts } from "../keys/keys.ts";
import type { NewKey } from "../keys/new-key.ts";
import { type Credential, hasScope, type Reach } from "../keys/reach.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import type { MemorySource } from "../memories/model/memory.ts";
import { PROOF_PATH } from "../sign-in/paths.ts";
import type { Sessions } from "../sign-in/sessions/sessions.ts";
import type { SignedIn, Visitors } from "../sign-in/sessions/visitor.ts";
import { spaceFacts } from "../spaces/route-parts.ts";

/** A request for a page by a person who is signed in. */
export interface Visit extends SignedIn {
  /** The message that the last form left, which this page shows once. */
  readonly notice: string | null;
  readonly request: Request;
  readonly url: URL;
  /** The space that is chosen in this browser; null for the person's own memories. */
  readonly chosen: Space | null;
  /** Whose memories the page shows; null for pages of the person, such as the account's. */
  readonly place: Place | null;
  /** All memories of the account, or of the chosen space on a page with a `place`. */
  readonly reach: Reach;
  /**
   * Checks the session and the membership again, during work that takes long.
   * @throws AppError `unauthorized` when the session has ended or the account is gone, `forbidden` when the membership has
   */
  readonly stillSignedIn: () => Promise<void>;
}

/** Whose memories a page shows. */
export interface Place {
  /** Null for the person's own. */
  readonly space: Space | null;
  /** How many people see them. */
  readonly people: number;
}

/** Whether the person may change the memories that the page shows. */
export function mayChange({ reach }: Visit): boolean {
  return hasScope(reach, "memories:write");
}

/** The facts of an event about the memories that a page shows. */
export function memoryFacts({ account, place }: Visit) {
  return { accountId: account.id, ...(place?.space && spaceFacts(place.space)) };
}

/** @throws AppError `forbidden` unless the person is the owner of the server */
export function requireOwner({ account }: Visit): void {
  if (account.role === "owner") return;
  throw new AppError("forbidden", "Only the owner of this server may open this page.");
}

/** The credential of a person who uses the dashboard. It is the account's in every session. */
export function credentialOf({ email, id }: Pick<Account, "email" | "id">): Credential {
  return { by: email, id };
}

/** The source of memories that a person writes in the dashboard. */
export function ownSource(account: Pick<Account, "email" | "id">): MemorySource {
  return { via: "dashboard", ...credentialOf(account) };
}

/**
 * Creates a key for the visitor, and keeps it for the next page. Revokes it again if the session has ended meanwhile,
 * because somebody may have revoked all access.
 * @returns the id of the key
 * @throws AppError `unauthorized` when the session has ended
 */
export async function createKeyInSession(
  { keys, record, shownOnce }: { keys: Keys; record: RecordEvent; shownOnce: ShownOnce },
  { account, request, session, stillSignedIn }: Visit,
  wanted: NewKey,
): Promise<string> {
  const made = await keys.create(account.id, wanted);
  const { id } = made.record;
  try {
    await stillSignedIn();
  } catch (error) {
    await keys.revoke(account.id, id);
    throw error;
  }
  record(request, "key_created", keyFacts(made.record));
  await shownOnce.put(session, id, made.key);
  return id;
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

/** Milliseconds for which a secret is kept for the next page. */
const LIFETIME_MS = 60_000;

export type ShownOnce = ReturnType<typeof createShownOnce>;

/**
 * Passes a new secret, such as an API key, from a form to the page after it. Only the same session can take it, and
 * only once.
 */
export function createShownOnce({ ephemeral }: { ephemeral: Pick<Ephemeral, "put" | "take"> }) {
  const nameOf = (session: string, id: string) => `shown once ${session} ${id}`;

  return {
    put: (session: string, id: string, secret: string): Promise<void> =>
      ephemeral.put(nameOf(session, id), secret, LIFETIME_MS),

    /** Takes the secret; null if it was taken before or has expired. */
    take: (session: string, id: string): Promise<string | null> =>
      ephemeral.take(nameOf(session, id)),
  };
}
