import type { Checks } from "../http/health.ts";
import type { Log } from "../log.ts";
import { openSharedVault } from "../memories/base/shared-vault.ts";
import { measureLog } from "../memories/log/measured-log.ts";
import { createPostgresLog } from "../memories/log/postgres-log.ts";
import type { Metrics } from "../metrics.ts";
import { checkObjectStore } from "../objects/check.ts";
import { createObjects } from "../objects/objects.ts";
import type { ObjectSettings, SharedSettings } from "../shared-settings.ts";
import { atMostEvery } from "./checks.ts";
import type { Data } from "./data.ts";
import { ServerError } from "./server-error.ts";
import { openForServer } from "./shared-database.ts";

/** Milliseconds for which it counts whether the object store answers: each question costs money. */
const FRESH = 5_000;
/** Milliseconds that it may take for an answer. */
const PROBE_PATIENCE = 2_000;

/**
 * Opens what several servers share, and brings the schema up to date.
 * @param folder has local copies of what is in the object store
 * @throws ServerError or DatabaseError with one sentence for the user
 */
export async function openShared(
  settings: SharedSettings,
  { folder, lines, metrics }: { folder: string; lines: Log; metrics: Metrics },
): Promise<Data> {
  await tryObjectStore(settings.objects, lines);
  const db = await openForServer(settings, { lines, metrics });
  const log = measureLog(createPostgresLog(db.postgres), metrics);
  const { records } = log.shared;
  const { vault, stop } = openSharedVault({ settings, folder, records, lines, metrics });
  return {
    db,
    log,
    vault,
    checks: objectChecks(settings.objects),
    async close() {
      await stop();
      await db.close();
    },
  };
}

/** One that does not answer may do so later; one that can't be used never will. */
async function tryObjectStore(settings: ObjectSettings, lines: Log): Promise<void> {
  const { state, message } = await checkObjectStore(settings);
  if (state === "wrong") throw new ServerError(message);
  if (state === "away") lines.warn("object_store_away", { cause: message });
}

function objectChecks(settings: ObjectSettings): Checks {
  const objects = createObjects(settings, { timeoutMs: PROBE_PATIENCE });
  const ask = () =>
    objects.versioning().then(
      () => "ok" as const,
      () => "unreachable" as const,
    );
  return { objects: atMostEvery(FRESH, ask) };
}
