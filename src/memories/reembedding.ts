import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import type { CurrentTable } from "./log/log.ts";
import { tableFor } from "./log/names.ts";
import type { Outcome } from "./log/pending.ts";
import type { OpenTables } from "./open-tables.ts";
import { createTableCopy, type TableCopy } from "./table-copy.ts";

export type Reembedding = ReturnType<typeof createReembedding>;

/** Milliseconds until all that failed are tried again, and between two lines in the log. */
const RETRY_AFTER = 5_000;
const LOG_EVERY = 30_000;

/**
 * Embeds the tables of another model again, one after the other, while they are in use. For each
 * account whose vectors are another model's, a second table is written, memory by memory,
 * by the log like every write. When the two say the same, it takes the place of the first one, which
 * is removed. After a break the tables are compared, and the rest is embedded.
 */
export function createReembedding({
  use,
  end,
  current,
  setCurrent,
  forgetTable,
  embedders,
  lines,
}: {
  /** Refuses tables of accounts that were removed. */
  use: OpenTables["use"];
  end: OpenTables["end"];
  /** By account. */
  current: ReadonlyMap<string, CurrentTable>;
  setCurrent: (accountId: string, table: CurrentTable) => Promise<void>;
  /** Removes a table that nobody uses. */
  forgetTable: (name: string) => Promise<void>;
  embedders: Embedders;
  lines: Lines;
}) {
  const { wanted } = embedders;
  let isStopped = false;
  const stopped = Promise.withResolvers<void>();
  /** What fills the table that is to replace another one. */
  let copy: TableCopy | null = null;
  /** By account: its former table, until it is removed. */
  const former = new Map<string, string>();
  let accounts: string[] = [];
  let accountsLeft = 0;

  const replace = async (accountId: string, from: string, to: string) => {
    const filling = createTableCopy({ from, to, wanted, use });
    // Commits from now on are noted.
    copy = filling;
    await filling.compare();
    const { total, left } = filling;
    lines.info("reembedding_started", { accountId, memories: total, left });
    const mayGoOn = () => {
      logProgress(filling);
      return !isStopped;
    };
    await filling.copy(mayGoOn);
    if (isStopped) return;
    await end(from, async () => {
      await filling.copy(mayGoOn);
      if (filling.left > 0) throw new Error("stopped");
      await setCurrent(accountId, { name: to, model: wanted.model.id });
      former.set(accountId, from);
    });
    lines.info("reembedding_done", { accountId, memories: total, model: wanted.model.id });
  };

  const remake = async (accountId: string) => {
    const to = tableFor(accountId, wanted.model.id);
    const from = current.get(accountId)?.name;
    if (from !== undefined && from !== to) await replace(accountId, from, to);
    // Also when the other one has taken its place before, and it could not be removed then.
    const left = former.get(accountId);
    if (left !== undefined) await forgetTable(left);
    former.delete(accountId);
  };

  /** Tells whether nothing is left to be done for an account. */
  const attempt = async (accountId: string): Promise<boolean> => {
    try {
      await remake(accountId);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return true;
      if (!isStopped) lines.error("reembedding_failed", { accountId, cause: String(error) });
      return false;
    } finally {
      copy = null;
    }
  };

  const run = async () => {
    accounts = [...current]
      .filter(([, { model }]) => model !== wanted.model.id)
      .map(([accountId]) => accountId);
    accountsLeft = accounts.length;
    for (let round = accounts; round.length > 0; ) {
      const failed: string[] = [];
      for (const accountId of round) {
        const isDone = await attempt(accountId);
        if (isStopped) return;
        if (isDone) accountsLeft--;
        else failed.push(accountId);
      }
      round = failed;
      if (failed.length > 0) await Promise.race([Bun.sleep(RETRY_AFTER), stopped.promise]);
    }
    embedders.release();
  };

  let logged = performance.now();
  const logProgress = ({ left, total }: TableCopy) => {
    if (performance.now() - logged < LOG_EVERY) return;
    logged = performance.now();
    lines.info("reembedding", { left, memories: total, accountsLeft });
  };

  const running = run();

  return {
    /** Receives every commit: what changes in a table changes in the one that is being made. */
    noteCommit(name: string, outcome: Outcome): void {
      if (name === copy?.from) copy.note(outcome);
    },
    /** The share that is done, 0 to 1; null when nothing is to be done. */
    progress: (): number | null =>
      accountsLeft === 0 ? null : 1 - (accountsLeft - 1 + (copy?.leftShare ?? 1)) / accounts.length,
    /** Resolves when the text under way is done. The rest is for the next process. */
    async stop(): Promise<void> {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}
