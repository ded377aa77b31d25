import { and, asc, count, eq, gt, inArray, isNull, lte, notExists, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { createSecret, hashSecret, isSameSecret } from "../db/secret.ts";
import type { Client } from "./client.ts";
import type { ClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { oauthClients, oauthGrants } from "./tables.ts";

/** How long a client that never got a token is kept, in milliseconds; others stay. */
const UNUSED_LIFETIME = 24 * 3_600_000;
/** Anyone can register: so many clients may be waiting for their first token. */
const MAX_UNUSED = 5_000;
/** For how long a person may think about what a client asks for, in milliseconds. */
const CONSENT_LIFETIME = 3_600_000;

export type Clients = ReturnType<typeof createClients>;

/** The store of clients that have registered themselves. `clock` gives milliseconds since 1970. */
export function createClients({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;

  /** Never got a token, and no person has allowed or is just being asked to allow it anything. */
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

  const prune = (now: number): void => {
    const longAgo = lte(oauthClients.createdAt, new Date(now - UNUSED_LIFETIME));
    orm
      .delete(oauthClients)
      .where(and(longAgo, isIdle(now)))
      .run();
  };

  const countUnused = (): number =>
    orm.select({ number: count() }).from(oauthClients).where(isNull(oauthClients.usedAt)).get()
      ?.number ?? 0;

  /** Removes the oldest idle clients until there is room for one more. */
  const makeRoom = (now: number): void => {
    const excess = countUnused() - MAX_UNUSED + 1;
    if (excess <= 0) return;
    const oldest = orm
      .select({ id: oauthClients.id })
      .from(oauthClients)
      .where(isIdle(now))
      .orderBy(asc(oauthClients.createdAt), asc(oauthClients.id))
      .limit(excess);
    orm.delete(oauthClients).where(inArray(oauthClients.id, oldest)).run();
  };

  return {
    /**
     * Adds a client. `secret` is in no file: this is the one time it can be told. When too many wait
     * for their first token, the oldest of them goes.
     * @throws OAuthError `temporarily_unavailable` when persons are being asked about all of them
     */
    register({ name, redirectUris, authMethod }: ClientMetadata) {
      const now = clock();
      prune(now);
      makeRoom(now);
      if (countUnused() >= MAX_UNUSED) {
        throw new OAuthError("temporarily_unavailable", "Too many clients have registered.", 503);
      }
      const id = createId("client", now);
      const secret = authMethod === "none" ? null : createSecret("ctxs_");
      const secretHash = secret === null ? null : hashSecret(secret);
      const createdAt = new Date(now);
      orm.insert(oauthClients).values({ id, name, redirectUris, secretHash, createdAt }).run();
      return { id, secret, createdAt };
    },

    find: (id: string): Client | null =>
      orm
        .select({
          id: oauthClients.id,
          name: oauthClients.name,
          redirectUris: oauthClients.redirectUris,
        })
        .from(oauthClients)
        .where(eq(oauthClients.id, id))
        .get() ?? null,

    /**
     * Whether a client is who it says: it is known, and has the secret that it was given, if any.
     * @param secret null for a client that shows none
     */
    isAuthentic(id: string, secret: string | null): boolean {
      const row = orm
        .select({ secretHash: oauthClients.secretHash })
        .from(oauthClients)
        .where(eq(oauthClients.id, id))
        .get();
      if (!row) return false;
      // Some send an empty secret, or one of theirs, though they asked for none.
      if (row.secretHash === null) return true;
      return secret !== null && isSameSecret(hashSecret(secret), row.secretHash);
    },

    /** Notes that a person is being asked about a client: it stays as long as that may take. */
    markAsked: (id: string): void =>
      void orm
        .update(oauthClients)
        .set({ askedAt: new Date(clock()) })
        .where(and(eq(oauthClients.id, id), isNull(oauthClients.usedAt)))
        .run(),

    /** Notes that a client got tokens: from now on it is kept. */
    markUsed: (id: string): void =>
      void orm
        .update(oauthClients)
        .set({ usedAt: new Date(clock()) })
        .where(eq(oauthClients.id, id))
        .run(),
  };
}
