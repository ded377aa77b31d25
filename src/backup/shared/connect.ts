import { connectPostgres, type Postgres } from "../../db/postgres.ts";
import { checkObjectStore } from "../../objects/check.ts";
import { createObjects, type Objects } from "../../objects/objects.ts";
import type { SharedSettings } from "../../shared-settings.ts";
import { BackupError } from "../backup-error.ts";

/** Milliseconds that a statement may take: nobody waits for it as for that of a request. */
const PATIENCE = 60_000;

/** What replicas share, for who copies all of it. */
export interface SharedPlace {
  postgres: Postgres;
  objects: Objects;
}

/** @throws BackupError when the object store can't be used */
export async function connectShared({
  databaseUrl,
  objects,
}: Pick<SharedSettings, "databaseUrl" | "objects">): Promise<SharedPlace> {
  const { state, message } = await checkObjectStore(objects);
  if (state !== "ok") throw new BackupError(message);
  return {
    postgres: connectPostgres(databaseUrl, { sessions: 2, patience: PATIENCE }),
    objects: createObjects(objects),
  };
}
