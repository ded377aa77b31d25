import { and, asc, count, eq, gt, inArray, isNull, lte, notExists, or } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { createSecret, hashSecret, isSameSecret } from "../db/secret.ts";
import type { Client } from "./client.ts";
import type { ClientMetadata } from "./client-metadata.ts";
import { OAuthError } from "./oauth-error.ts";
import { createOAuthTables } from "./tables.ts";

/** Milliseconds for which a client without tokens is kept; others stay. */
const UNUSED_LIFETIME = 24 * 3_600_000;
/** Clients without tokens that may exist. Anyone can register. */
const MAX_UNUSED = 5_000;
/** Milliseconds that a person may take for a decision. */
const CONSENT_LIFETIME = 3_600_000;

export type Clients = ReturnType<typeof createClients>;

/** The store of registered clients. `clock` gives milliseconds since 1970. */
export function createClients({ db, clock }: { db: Database; clock: () => number }) {
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
