import type { EmbeddingModel } from "../embedding/embedder.ts";
import type { Log as Lines } from "../log.ts";
import type { CurrentTable, Log } from "./log/log.ts";
import { accountOf, tableFor } from "./log/names.ts";
import type { OpenTables } from "./open-tables.ts";
import type { OpenTable } from "./pooled-table.ts";
import type { Storage } from "./storage.ts";

interface Parts {
  log: Log;
  /** By account. */
  current: ReadonlyMap<string, CurrentTable>;
  model: EmbeddingModel;
  use: OpenTables["use"];
  setCurrent: (accountId: string, table: CurrentTable) => Promise<void>;
  forgetTable: (name: string) => Promise<void>;
  lines: Lines;
}

/** Milliseconds after which a table that could not be opened is tried again. */
const OPEN_AGAIN = 30_000;

/**
 * Goes on, beside requests, where the last process ended: removes tables whose place others have
 * taken, and opens those that have something to flush. The only account's is opened in any case.
 */
export function startResumption({ log, current, use, setCurrent, lines, ...parts }: Parts): {
  /** Resolves when each table was tried once. */
  done: Promise<void>;
  stop(): Promise<void>;
} {
  let isStopped = false;
  let again: ReturnType<typeof setTimeout> | undefined;

  const open = (table: string, task: (open: OpenTable) => Promise<void>): Promise<boolean> =>
    use(table, task).then(
      () => true,
      (error) => {
        lines.error("table_not_opened", { table, cause: String(error) });
        return false;
      },
    );

  /** Tries again as long as one can't be opened. */
  const openUnflushed = async () => {
    let isComplete = true;
    for (const name of await log.unflushed()) {
      if (isStopped) return;
      isComplete = (await open(name, async () => {})) && isComplete;
    }
    if (!isComplete && !isStopped) again = setTimeout(() => attempt(openUnflushed), OPEN_AGAIN);
  };

  const resume = async () => {
    await finishReplacements({ log, current, ...parts });
    for (const [accountId, { model }] of current) {
      if (model !== null) continue;
      await open(accountId, ({ table }) =>
        setCurrent(accountId, { name: table.name, model: table.model.id }),
      );
    }
    await openUnflushed();
    // While the model loads: the first search does not wait for it then.
    const [only, ...others] = current.values();
    if (only && others.length === 0 && !isStopped) await open(only.name, async () => {});
  };

  let running = Promise.resolve();
  const attempt = (task: () => Promise<void>) => {
    running = task().catch((error) => lines.error("store_not_resumed", { cause: String(error) }));
    return running;
  };

  return {
    done: attempt(resume),
    async stop() {
      isStopped = true;
      clearTimeout(again);
      await running;
    },
  };
}

/** Removes tables whose place another one has taken, or that were to take one that is wanted no more. */
async function finishReplacements({
  log,
  current,
  model,
  forgetTable,
}: Pick<Parts, "log" | "current" | "model" | "forgetTable">): Promise<void> {
  for (const name of await log.tables()) {
    const accountId = accountOf(name);
    const present = current.get(accountId)?.name ?? name;
    if (name !== present && name !== tableFor(accountId, model.id)) await forgetTable(name);
  }
}

/**
 * Removes what a flush left that a crash cut short: a base that it wrote and did not record, or did
 * not remove, and entries that are in the base and still in the log's files.
 */
export async function removeLeftovers(
  { log, vault }: Pick<Storage, "log" | "vault">,
  lines: Lines,
): Promise<void> {
  const names = await log.tables();
  const heads = await Promise.all(names.map(log.head));
  const recorded = new Set(heads.map((head) => head?.checkpoint?.base));
  const accounts = new Set(names.map(accountOf));
  // Folders of accounts that nobody knows are not touched.
  const left = (base: string) => accounts.has(accountOf(base)) && !recorded.has(base);
  await vault.forget((await vault.bases()).filter(left));
  // A full disk: the next flush tries again.
  await log.expunge().catch((cause) => lines.error("log_not_expunged", { cause: String(cause) }));
}
