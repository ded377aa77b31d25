import { and, asc, count, eq, gt, inArray, isNull, lte, notExists, or } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import type { Orm, StoreParts } from "../../db/database.ts";
import { createId, createSecret, hashSecret, isSameSecret } from "../../db/id.ts";
import type { JsonObject } from "../../text/parse-json.ts";
import { OAuthError } from "../oauth-error.ts";
import { createOAuthTables } from "../tables.ts";
import {
  type Client,
  type ClientMetadata,
  KEY_METHOD,
  listOf,
  nameOf,
  parseRedirectUris,
  toRecord,
} from "./client.ts";
import { toKeys } from "./client-assertion.ts";
import type { FetchDocument } from "./document-fetcher.ts";

const MINUTE = 60_000;
/** Limits of how long a document is kept, whatever its server says, in milliseconds. */
const MIN_AGE = MINUTE;
const MAX_AGE = 24 * 60 * MINUTE;
const USUAL_AGE = 5 * MINUTE;
/** Milliseconds before a failed document is requested again. */
const FAILURE_AGE = MINUTE / 2;
/** Milliseconds after network failures in which apps are told to register instead. */
const OFFLINE_AGE = 10 * MINUTE;
/** Milliseconds for which a host that answered shows that this server is on the Internet. */
const ONLINE_AGE = 24 * 60 * MINUTE;
/** Hosts that must fail then, because one alone may be the host's fault, or somebody's choice. */
const FAILED_HOSTS = 3;
const MAX_ADDRESS = 1_024;

/**
 * Reads client ID metadata documents (draft-ietf-oauth-client-id-metadata-document) and caches them.
 * @param clock milliseconds since 1970
 */
export function createClientDocuments({
  fetchDocument,
  clock,
}: {
  fetchDocument: FetchDocument;
  clock: () => number;
}) {
  let reachedAt = Number.NEGATIVE_INFINITY;
  /** Hosts that could not be reached, and when. */
  const failed = new LRUCache<string, number>({ max: 100 });
  const known = new LRUCache<string, { until: number; client: Promise<Client> }>({ max: 200 });

  const read = async (clientId: string, entry: { until: number }): Promise<Client> => {
    const url = parseAddress(clientId);
    try {
      const { json, maxAge } = await fetchDocument(url);
      reachedAt = clock();
      failed.clear();
      const client = parseDocument(clientId, json);
      const age = Math.min(MAX_AGE, Math.max(MIN_AGE, maxAge ?? USUAL_AGE));
      entry.until = clock() + age;
      return client;
    } catch (cause) {
      entry.until = clock() + FAILURE_AGE;
      if (cause instanceof OAuthError) throw cause;
      if (!isOfNetwork(cause)) throw refused("could not be fetched");
      failed.set(url.hostname, clock());
      throw new OAuthError("temporarily_unavailable", unreachable(), 503);
    }
  };

  const areReachable = (): boolean => {
    const recent = failed.values().filter((at) => clock() - at < OFFLINE_AGE);
    const enough = clock() - reachedAt < ONLINE_AGE ? FAILED_HOSTS : 1;
    return [...recent].length < enough;
  };

  const unreachable = () => {
    const advice = areReachable()
      ? "try again later"
      : "connect the app again now, and it registers itself instead";
    return `This server can't reach the site that says who the app is: ${advice}.`;
  };

  return {
    /**
     * Reads the client whose document is at an address.
     * @throws OAuthError `invalid_client`, or `temporarily_unavailable` when no answer arrives
     */
    find(clientId: string): Promise<Client> {
      const cached = known.get(clientId);
      if (cached && clock() < cached.until) return cached.client;
      const entry = { until: Number.POSITIVE_INFINITY };
      const client = read(clientId, entry);
      known.set(clientId, Object.assign(entry, { client }));
      return client;
    },

    /** Whether documents can probably be fetched. Some servers have no Internet access. */
    areReachable,
  };
}

/** Whether no answer arrived: such errors of the system have a code. */
function isOfNetwork(cause: unknown): boolean {
  return cause instanceof Error && ("code" in cause || cause.name === "TimeoutError");
}

/** Section 3 of the draft: a path, no dot segments, no fragment, no user; a query is tolerated. */
function parseAddress(clientId: string): URL {
  const url = clientId.length <= MAX_ADDRESS ? URL.parse(clientId) : null;
  // A parser resolves dot segments, which changes the address.
  if (url?.href !== clientId || url.pathname === "/" || clientId.includes("#")) {
    throw refused("has an address that is not allowed");
  }
  return url;
}

/** Section 4: the document must name its own address and must not have a secret. It may have keys. */
function parseDocument(clientId: string, json: unknown): Client {
  const metadata = toRecord(json);
  if (metadata.client_id !== clientId) throw refused("names another client_id");
  if ("client_secret" in metadata) throw refused("contains a secret");
  const method = metadata.token_endpoint_auth_method ?? "none";
  const methods = [method, ...(listOf(metadata.token_endpoint_auth_methods_supported) ?? [])];
  const isPublic = methods.includes("none");
  const source = methods.includes(KEY_METHOD) ? keysOf(metadata) : null;
  if (!isPublic && source === null) {
    throw refused(`needs a token_endpoint_auth_method other than none and ${KEY_METHOD} with keys`);
  }
  const redirectUris = parseRedirectUris(metadata.redirect_uris);
  return {
    id: clientId,
    name: nameOf(metadata, redirectUris),
    redirectUris,
    ...(source !== null && { keys: { source, required: !isPublic } }),
  };
}

/** The keys in a document, or their address; it must not have both. */
function keysOf({ jwks, jwks_uri: address }: JsonObject) {
  if (jwks !== undefined && address !== undefined) throw refused("has both jwks and jwks_uri");
  if (jwks !== undefined) return toKeys(jwks);
  if (typeof address !== "string" || address.length > MAX_ADDRESS) return null;
  return URL.parse(address)?.protocol === "https:" ? address : null;
}

function refused(problem: string): OAuthError {
  return new OAuthError("invalid_client", `The app's client metadata document ${problem}.`);
}

/** Milliseconds for which a client without tokens is kept; others stay. */
const UNUSED_LIFETIME = 24 * 3_600_000;
/** Clients without tokens that may exist. Anyone can register. */
const MAX_UNUSED = 5_000;
/** Milliseconds that a person may take for a decision. */
const CONSENT_LIFETIME = 3_600_000;

/** The store of registered clients. */
export function createClients({ db, clock }: StoreParts) {
  const { orm } = db;
  const { oauthClients, oauthGrants } = db.tables(createOAuthTables);

  /** The client has no tokens, no person has allowed it anything, and none is deciding about it. */
  const isIdle = (now: number) =>
    and(
      isNull(oauthClients.usedAt),
      or(isNull(oauthClients.askedAt), lte(oauthClients.askedAt, new Date(now - CONSENT_LIFETIME))),
      notExists(
        orm
          .select({ id: oauthGrants.id })
          .from(oauthGrants)
          .where(
            and(
              eq(oauthGrants.clientId, oauthClients.id),
              isNull(oauthGrants.revokedAt),
              gt(oauthGrants.expiresAt, new Date(now)),
            ),
          ),
      ),
    );

  /**
   * Removes clients that have been idle for long, and the oldest idle ones until there is room for one more. Returns
   * whether there is.
   */
  const makeRoom = async (tx: Orm, now: number): Promise<boolean> => {
    const longAgo = lte(oauthClients.createdAt, new Date(now - UNUSED_LIFETIME));
    await tx.delete(oauthClients).where(and(longAgo, isIdle(now)));
    const unused = tx.select({ number: count() }).from(oauthClients);
    const [row] = await unused.where(isNull(oauthClients.usedAt));
    const excess = (row?.number ?? 0) - MAX_UNUSED + 1;
    if (excess <= 0) return true;
    const oldest = tx
      .select({ id: oauthClients.id })
      .from(oauthClients)
      .where(isIdle(now))
      .orderBy(asc(oauthClients.createdAt), asc(oauthClients.id))
      .limit(excess);
    const isOldest = inArray(oauthClients.id, oldest);
    const removed = await tx
      .delete(oauthClients)
      .where(isOldest)
      .returning({ id: oauthClients.id });
    return removed.length === excess;
  };

  return {
    /**
     * Registers a client. Only the hash of `secret` is stored: it can be sent now and never again. When
     * too many clients have no tokens, the oldest of them is removed.
     * @throws OAuthError `temporarily_unavailable` when people are deciding about all of them
     */
    async register({ name, redirectUris, authMethod }: ClientMetadata) {
      const now = clock();
      const id = createId("client", now);
      const secret = authMethod === "none" ? null : createSecret("ctxs_");
      const secretHash = secret === null ? null : hashSecret(secret);
      const createdAt = new Date(now);
      const hasRoom = await db.transaction(async (tx) => {
        const isFree = await makeRoom(tx, now);
        const row = { id, name, redirectUris, secretHash, createdAt };
        if (isFree) await tx.insert(oauthClients).values(row);
        return isFree;
      });
      if (hasRoom) return { id, secret, createdAt };
      throw new OAuthError("temporarily_unavailable", "Too many clients have registered.", 503);
    },

    async find(id: string): Promise<Client | null> {
      const [client = null] = await orm
        .select({
          id: oauthClients.id,
          name: oauthClients.name,
          redirectUris: oauthClients.redirectUris,
        })
        .from(oauthClients)
        .where(eq(oauthClients.id, id));
      return client;
    },

    /**
     * Whether a client exists and has the right secret, if it has one.
     * @param secret null if the client sent none
     */
    async isAuthentic(id: string, secret: string | null): Promise<boolean> {
      const [row] = await orm
        .select({ secretHash: oauthClients.secretHash })
        .from(oauthClients)
        .where(eq(oauthClients.id, id));
      if (!row) return false;
      // Some clients send an empty or invented secret although they have none.
      if (row.secretHash === null) return true;
      return secret !== null && isSameSecret(hashSecret(secret), row.secretHash);
    },

    /** Records that a person is deciding about a client, which is kept meanwhile. */
    async markAsked(id: string): Promise<void> {
      await orm
        .update(oauthClients)
        .set({ askedAt: new Date(clock()) })
        .where(and(eq(oauthClients.id, id), isNull(oauthClients.usedAt)));
    },

    /** Records that a client received tokens: it is kept from now on. */
    async markUsed(id: string): Promise<void> {
      await orm
        .update(oauthClients)
        .set({ usedAt: new Date(clock()) })
        .where(eq(oauthClients.id, id));
    },
  };
}
