import type { SharedSettings } from "../../config/shared-settings.ts";
import { connectPostgres, type Postgres } from "../../db/postgres.ts";
import { createObjects, type Objects } from "../../objects/objects.ts";

/** Milliseconds that a statement may take. It is longer than for requests, because nobody waits. */
const TIMEOUT_MS = 60_000;

/** The database and object store of replicas. */
export interface SharedPlace {
  postgres: Postgres;
  objects: Objects;
}

/** Connects to the database and object store for a backup or restore. */
export function connectShared({
  databaseUrl,
  objects,
}: Pick<SharedSettings, "databaseUrl" | "objects">): SharedPlace {
  return {
    postgres: connectPostgres(databaseUrl, { sessions: 2, timeoutMs: TIMEOUT_MS }),
    objects: createObjects(objects),
  };
}
