import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Log as Logger } from "../../log.ts";
import { accountOf, tableFor } from "../log/log.ts";
import type { OpenTable } from "../store/pooled-table.ts";
import type { Storage } from "../table/storage.ts";
import type { LocalTables } from "./reembedding.ts";

/** Milliseconds until a table that could not be opened is tried again. */
const OPEN_RETRY_MS = 30_000;

/**
 * Continues the work of the last process in the background: removes replaced tables, and opens those that
 * have something to flush. If there is only one account, its table is opened in any case.
 */
export function startResumption({
  log,
  tables,
  current,
  forgetTable,
  logger,
  model,
}: LocalTables & { model: EmbeddingModel }): {
  /** Resolves when each table has been tried once. */
  done: Promise<void>;
  stop(): Promise<void>;
} {
  let isStopped = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  const open = (table: string, task: (open: OpenTable) => Promise<void>): Promise<boolean> =>
    tables.use(table, task).then(
      () => true,
      (error) => {
        logger.error("table_not_opened", { table, cause: String(error) });
        return false;
      },
    );

  /** Opens tables that must be flushed, until all could be opened. */
  const openUnflushed = async () => {
    let isComplete = true;
    for (const name of await log.unflushed()) {
      if (isStopped) return;
      isComplete = (await open(name, async () => {})) && isComplete;
    }
    if (!isComplete && !isStopped)
      retryTimer = setTimeout(() => attempt(openUnflushed), OPEN_RETRY_MS);
  };

  const resume = async () => {
    // Tables that another one has replaced, and copies for a model that is no longer in use.
    for (const name of await log.tables()) {
      const accountId = accountOf(name);
      const present = current.all.get(accountId)?.name ?? name;
      if (name !== present && name !== tableFor(accountId, model.id)) await forgetTable(name);
    }
    for (const [accountId, { model }] of current.all) {
      if (model !== null) continue;
      await open(accountId, ({ table }) =>
        current.set(accountId, { name: table.name, model: table.model.id }),
      );
    }
    await openUnflushed();
    // While the model is being loaded, so that the first search need not wait for the table.
    const [only, ...others] = current.all.values();
    if (only && others.length === 0 && !isStopped) await open(only.name, async () => {});
  };

  let running = Promise.resolve();
  const attempt = (task: () => Promise<void>) => {
    running = task().catch((error) => logger.error("store_not_resumed", { cause: String(error) }));
    return running;
  };

  return {
    done: attempt(resume),
    async stop() {
      isStopped = true;
      clearTimeout(retryTimer);
      await running;
    },
  };
}

/**
 * Removes what an interrupted flush has left: a base that was not recorded or not removed, and entries that
 * the base includes and that are still in the log's files.
 */
export async function removeLeftovers(
  { log, vault }: Pick<Storage, "log" | "vault">,
  logger: Logger,
): Promise<void> {
  const names = await log.tables();
  const heads = await Promise.all(names.map(log.head));
  const recorded = new Set(heads.map((head) => head?.checkpoint?.base));
  const accounts = new Set(names.map(accountOf));
  // Folders of unknown accounts stay.
  const isLeftover = (base: string) => accounts.has(accountOf(base)) && !recorded.has(base);
  await vault.forget((await vault.bases()).filter(isLeftover));
  // This fails when the disk is full. The next flush tries again.
  await log.expunge().catch((cause) => logger.error("log_not_expunged", { cause: String(cause) }));
}
