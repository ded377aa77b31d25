import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { readServerSecret } from "./server-secret.ts";

/**
 * Gives what the first person has to know to become the owner. Who reaches the port is not always who runs
 * the server, not even on loopback. It is a secret of this start; servers that share a database have one
 * together, since the link that one of them prints may lead to another one.
 */
export function createSetUpToken(
  db: Database,
  token = db.dialect.name === "sqlite" ? createSecret("") : null,
): () => Promise<string> {
  return async () => token ?? (await readServerSecret(db, "set-up"));
}
