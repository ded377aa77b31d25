import { join } from "node:path";
import { createAccess } from "../../src/access/access.ts";
import { createActivity } from "../../src/activity/activity.ts";
import { createApp } from "../../src/app.ts";
import { createProgressFiles } from "../../src/capture/progress.ts";
import type { Database } from "../../src/db/database.ts";
import type { Checks } from "../../src/http/health.ts";
import { createKeys } from "../../src/keys/keys.ts";
import type { Log } from "../../src/log.ts";
import { watchRemovedAccounts } from "../../src/memories/background/removed-accounts.ts";
import type { Log as MemoryLog } from "../../src/memories/log/log.ts";
import { createIdempotency } from "../../src/memories/rules/idempotency.ts";
import { createMemories } from "../../src/memories/rules/memories.ts";
import type { Store } from "../../src/memories/store/store.ts";
import { createSecurityLog } from "../../src/security-log/security-log.ts";
import { createUndoable } from "../../src/undo/undoable.ts";
import { createUses } from "../../src/uses/uses.ts";
import { APP_CONFIG } from "./app-config.ts";

interface Parts {
  dataDir: string;
  db: Database;
  store: Store;
  memoryLog: MemoryLog;
  clock: () => number;
  log: Log;
  checks: Checks;
}

/** Serves a store on a free port, with all that stands above it in `ctxd serve`. `close` ends the store as well. */
export function serveStore({ dataDir, db, store, memoryLog, clock, log, checks }: Parts) {
  const access = createAccess({ db, clock, publicUrl: "http://localhost" });
  const uses = createUses({ db, store, clock, log });
  const memories = createMemories({
    store,
    timesFound: uses.timesFound,
    idempotency: createIdempotency({ log: memoryLog, clock }),
    clock,
  });
  const unwatch = watchRemovedAccounts({ store, accounts: access.accounts, log });
  const securityLog = createSecurityLog({ db, clock, log });
  const activity = createActivity({ db, clock, log });
  const undoable = createUndoable({ db, memories, clock, log, admit: access.spaces.admit });
  const app = createApp({
    config: APP_CONFIG,
    progress: createProgressFiles(join(dataDir, "captured")),
    ...{ access, securityLog, activity, uses, undoable, memories },
    keys: createKeys({ db, clock }),
    ...{ log, checks },
  }).listen({ hostname: "127.0.0.1", port: 0, maxRequestBodySize: Number.MAX_SAFE_INTEGER });
  return {
    port: app.server?.port,
    securityLog,
    undoable,
    async close() {
      await app.stop(true);
      unwatch();
      await undoable.close();
      await uses.close();
      await store.close();
      await securityLog.close();
      await activity.close();
    },
  };
}
