import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { readServerSecret } from "./server-secret.ts";

/**
 * Creates the secret that a person needs to become the owner. Not everyone who reaches the port runs
 * the server, not even on loopback. The secret is new at each start. Servers that share a database
 * share it, because the link that one of them prints may lead to another.
 */
export function createSetUpToken(
  db: Database,
  token = db.dialect.name === "sqlite" ? createSecret("") : null,
): () => Promise<string> {
  return async () => token ?? (await readServerSecret(db, "set-up"));
}
