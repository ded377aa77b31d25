import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret, isSameSecret } from "../db/secret.ts";
import { createSignInTables } from "./tables.ts";

export type SetUpToken = ReturnType<typeof createSetUpToken>;

/**
 * Creates the secret that a person needs to become the owner. Not everyone who reaches the port runs
 * the server, not even on loopback. The secret is new at each start. The link that one of several servers prints
 * may lead to another, so they share the hashes: whoever reads the database gets no secret.
 */
export function createSetUpToken(db: Database, token = createSecret("")) {
  const { serverSecrets } = db.tables(createSignInTables);
  const isShared = db.dialect.name !== "sqlite";
  const nameOf = (secret: string) => `set-up ${hashSecret(secret)}`;

  return {
    /** The secret of this server. From now on, the others accept it. */
    async issue(): Promise<string> {
      const row = { name: nameOf(token), value: "" };
      if (isShared) await db.orm.insert(serverSecrets).values(row).onConflictDoNothing();
      return token;
    },

    /** Whether a secret is that of this server, or one that another server has issued. */
    async accepts(secret: string): Promise<boolean> {
      if (isSameSecret(secret, token)) return true;
      if (!isShared) return false;
      const isIt = eq(serverSecrets.name, nameOf(secret));
      const rows = await db.orm.select().from(serverSecrets).where(isIt);
      return rows.length > 0;
    },
  };
}
