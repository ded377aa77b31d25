import { and, asc, count, eq, gt, inArray, isNull, lte, notExists, or } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { createSecret, hashSecret, isSameSecret } from "../db/secret.ts";
import type { Client } from "./client.ts";
import type { ClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { createOAuthTables } from "./tables.ts";

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
  const { oauthClients, oauthGrants } = db.tables(createOAuthTables);

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

  const prune = async (tx: Orm, now: number): Promise<void> => {
    const longAgo = lte(oauthClients.createdAt, new Date(now - UNUSED_LIFETIME));
    await tx.delete(oauthClients).where(and(longAgo, isIdle(now)));
  };

  const countUnused = async (tx: Orm): Promise<number> => {
    const unused = tx.select({ number: count() }).from(oauthClients);
    const [row] = await unused.where(isNull(oauthClients.usedAt));
    return row?.number ?? 0;
  };

  /** Removes the oldest idle clients until there is room for one more. Returns whether there is. */
  const makeRoom = async (tx: Orm, now: number): Promise<boolean> => {
    const excess = (await countUnused(tx)) - MAX_UNUSED + 1;
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
     * Adds a client. `secret` is in no file: this is the one time it can be told. When too many wait
     * for their first token, the oldest of them goes.
     * @throws OAuthError `temporarily_unavailable` when persons are being asked about all of them
     */
    async register({ name, redirectUris, authMethod }: ClientMetadata) {
      const now = clock();
      const id = createId("client", now);
      const secret = authMethod === "none" ? null : createSecret("ctxs_");
      const secretHash = secret === null ? null : hashSecret(secret);
      const createdAt = new Date(now);
      const hasRoom = await db.transaction(async (tx) => {
        await prune(tx, now);
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
     * Whether a client is who it says: it is known, and has the secret that it was given, if any.
     * @param secret null for a client that shows none
     */
    async isAuthentic(id: string, secret: string | null): Promise<boolean> {
      const [row] = await orm
        .select({ secretHash: oauthClients.secretHash })
        .from(oauthClients)
        .where(eq(oauthClients.id, id));
      if (!row) return false;
      // Some send an empty secret, or one of theirs, though they asked for none.
      if (row.secretHash === null) return true;
      return secret !== null && isSameSecret(hashSecret(secret), row.secretHash);
    },

    /** Notes that a person is being asked about a client: it stays as long as that may take. */
    async markAsked(id: string): Promise<void> {
      await orm
        .update(oauthClients)
        .set({ askedAt: new Date(clock()) })
        .where(and(eq(oauthClients.id, id), isNull(oauthClients.usedAt)));
    },

    /** Notes that a client got tokens: from now on it is kept. */
    async markUsed(id: string): Promise<void> {
      await orm
        .update(oauthClients)
        .set({ usedAt: new Date(clock()) })
        .where(eq(oauthClients.id, id));
    },
  };
}
