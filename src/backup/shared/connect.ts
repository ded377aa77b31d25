import { connectPostgres, type Postgres } from "../../db/postgres.ts";
import { createObjects, type Objects } from "../../objects/objects.ts";
import type { SharedSettings } from "../../shared-settings.ts";

/** Milliseconds that a statement may take: nobody waits for it as for that of a request. */
const TIMEOUT_MS = 60_000;

/** What replicas share, for who copies all of it. */
export interface SharedPlace {
  postgres: Postgres;
  objects: Objects;
}

export function connectShared({
  databaseUrl,
  objects,
}: Pick<SharedSettings, "databaseUrl" | "objects">): SharedPlace {
  return {
    postgres: connectPostgres(databaseUrl, { sessions: 2, timeoutMs: TIMEOUT_MS }),
    objects: createObjects(objects),
  };
}
