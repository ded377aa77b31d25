import type { Reach } from "../../../keys/reach.ts";
import { findSecrets } from "../../../secrets/find-secrets.ts";
import { createPause } from "../../../timing/pause.ts";
import { type MemoryRow, toMemory } from "../../model/rows.ts";
import type { MemoryTable } from "../../table/table.ts";
import type { Parts } from "../visible.ts";
import { secretsIn } from "./secret-watch.ts";

/** The most memories with secrets that are kept in mind. */
const MAX_WITH_SECRETS = 1_000;
/** Changes of other replicas arrive later than they were made. */
const OVERLAP_MS = 60_000;

/** What the last look at a table has found. */
interface Look {
  /** When it began, in milliseconds since 1970. */
  at: number;
  ids: ReadonlySet<string>;
}

const NOTHING_SEEN: Look = { at: Number.NEGATIVE_INFINITY, ids: new Set() };

/**
 * Returns a function that finds the memories that contain secrets, at most `MAX_WITH_SECRETS`. The first call for a table
 * reads every text, which takes some seconds for 100,000 memories; later ones read what has changed since.
 */
export function createSecretScan({ store, clock }: Parts) {
  const looks = new WeakMap<MemoryTable, { changes: number; look: Promise<Look> }>();

  const lookAt = async (table: MemoryTable, former: Promise<Look> | undefined): Promise<Look> => {
    const last = (await former?.catch(() => null)) ?? NOTHING_SEEN;
    const at = clock();
    // After the clock was set back, all texts are read again.
    const since = at < last.at ? NOTHING_SEEN.at : last.at - OVERLAP_MS;
    const ids = new Set<string>();
    const pause = createPause();
    for await (const rows of table.rows()) {
      for (const row of rows) {
        const has = row.updatedAt < since ? last.ids.has(row.id) : hasSecret(row);
        if (has && ids.size < MAX_WITH_SECRETS) ids.add(row.id);
        await pause();
      }
    }
    return { at, ids };
  };

  return async (reach: Reach): Promise<string[]> => {
    const { ids } = await store.use(reach.accountId, ({ table }) => {
      const { changes } = table;
      const known = looks.get(table);
      if (known?.changes === changes) return known.look;
      const look = lookAt(table, known?.look);
      looks.set(table, { changes, look });
      look.catch(() => looks.delete(table));
      return look;
    });
    return [...ids];
  };
}

/** Reads all texts at once first: most have no secret, and each search of a text takes time. */
function hasSecret(row: MemoryRow): boolean {
  const { content, tags, agentId, sessionId, project, metadata } = row;
  const all = [content, ...tags, agentId, sessionId, project, metadata].join("\n");
  return findSecrets(all).length > 0 && secretsIn(toMemory(row)).length > 0;
}
