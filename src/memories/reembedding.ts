import type { Embedder } from "../embedding/embedder.ts";
import type { Embedders } from "../embedding/embedders.ts";
import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import type { CurrentTable } from "./log/log.ts";
import { tableFor } from "./log/names.ts";
import type { Outcome } from "./log/pending.ts";
import type { OpenTables } from "./open-tables.ts";
import { type MemoryRow, type StoredMemory, toMemory } from "./rows.ts";

/** Embeds the tables of another model again, one after the other, while they are in use. */
export interface Reembedding {
  /** Is told of every commit: what changes in a table changes in the one that is being made. */
  noteCommit(name: string, outcome: Outcome): void;
  /** The share that is done, 0 to 1; null when nothing is to be done. */
  progress(): number | null;
  /** Resolves when the text under way is done. The rest is for the next process. */
  stop(): Promise<void>;
}

/** Memories that one commit takes at most, and characters: forgetting must not wait long. */
const BATCH = 64;
const BATCH_CHARACTERS = 20_000;
/** Milliseconds after which what failed is tried again, and between two lines in the log. */
const RETRY_AFTER = 5_000;
const LOG_EVERY = 30_000;

/**
 * For each account whose vectors are another model's, a second table is written, memory by memory,
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
}): Reembedding {
  const { wanted } = embedders;
  let isStopped = false;
  const stopped = Promise.withResolvers<void>();
  /** The table that is being replaced. */
  let former: string | null = null;
  /** Ids of its memories that have changed since they were compared, and those not compared yet. */
  const changed = new Set<string>();
  const missing = new Set<string>();
  let total = 0;
  let accounts: string[] = [];
  let accountsLeft = 0;

  const copyAll = async (from: string, to: string) => {
    while (changed.size + missing.size > 0 && !isStopped) {
      // Those that changed first: they may be forgotten ones.
      const batch = await takeBatch(from, changed.size > 0 ? changed : missing, use);
      for (const id of batch) {
        changed.delete(id);
        missing.delete(id);
      }
      try {
        await copy({ from, to, ids: batch }, wanted, use);
      } catch (error) {
        for (const id of batch) changed.add(id);
        throw error;
      }
      logProgress();
    }
  };

  const compare = async (from: string, to: string) => {
    // Commits from now on are noted.
    former = from;
    changed.clear();
    missing.clear();
    const difference = await compareTables(from, to, use);
    total = difference.total;
    for (const id of difference.missing) missing.add(id);
    for (const id of difference.gone) changed.add(id);
  };

  const remake = async (accountId: string) => {
    const present = current.get(accountId);
    if (!present) return;
    const [from, to] = [present.name, tableFor(accountId, wanted.model.id)];
    await compare(from, to);
    lines.info("reembedding_started", { accountId, memories: total, left: missing.size });
    await copyAll(from, to);
    if (isStopped) return;
    await end(from, async () => {
      await copyAll(from, to);
      if (changed.size + missing.size > 0) throw new Error("stopped");
      await setCurrent(accountId, { name: to, model: wanted.model.id });
    });
    lines.info("reembedding_done", { accountId, memories: total, model: wanted.model.id });
    await forgetTable(from);
  };

  const run = async () => {
    accounts = [...current]
      .filter(([, { model }]) => model !== wanted.model.id)
      .map(([accountId]) => accountId);
    accountsLeft = accounts.length;
    for (const accountId of accounts) {
      while (!isStopped) {
        try {
          await remake(accountId);
          break;
        } catch (error) {
          const isRemoved = error instanceof AppError && error.code === "not_found";
          if (isStopped || isRemoved) break;
          lines.error("reembedding_failed", { accountId, cause: String(error) });
          await Promise.race([Bun.sleep(RETRY_AFTER), stopped.promise]);
        }
      }
      former = null;
      accountsLeft--;
    }
    if (!isStopped) embedders.release();
  };

  let logged = performance.now();
  const logProgress = () => {
    if (performance.now() - logged < LOG_EVERY) return;
    logged = performance.now();
    lines.info("reembedding", { left: changed.size + missing.size, memories: total, accountsLeft });
  };

  const running = run();

  return {
    noteCommit(name, { written, removed }) {
      if (name !== former) return;
      for (const { id } of written) changed.add(id);
      for (const id of removed) changed.add(id);
    },
    progress: () =>
      accountsLeft === 0
        ? null
        : 1 - (accountsLeft - 1 + missing.size / Math.max(total, 1)) / accounts.length,
    async stop() {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}

/** The first of some memories, as many as one commit takes. */
async function takeBatch(
  from: string,
  source: ReadonlySet<string>,
  use: OpenTables["use"],
): Promise<string[]> {
  const ids = source.values().take(BATCH).toArray();
  const rows = await use(from, ({ table }) => table.find(ids));
  const sizes = new Map(rows.map(({ id, content }) => [id, content.length]));
  let characters = 0;
  return ids.filter((id, index) => {
    characters += sizes.get(id) ?? 0;
    return index === 0 || characters <= BATCH_CHARACTERS;
  });
}

/** Makes memories of the second table what they are in the first one. */
async function copy(
  { from, to, ids }: { from: string; to: string; ids: readonly string[] },
  wanted: Embedder,
  use: OpenTables["use"],
): Promise<void> {
  const rows = await use(from, ({ table }) => table.find(ids));
  const present = await use(to, ({ table }) => table.load(ids));
  const embedded = new Map(present.map((memory) => [memory.id, memory]));
  const memories: StoredMemory[] = [];
  for (const row of rows) {
    const same = embedded.get(row.id);
    const isSame = same?.content === row.content;
    const vectors = isSame ? same.vectors : await wanted.embedContent(row.content);
    memories.push({ ...row, vectors });
  }
  const gone = new Set(ids);
  for (const { id } of rows) gone.delete(id);
  await use(to, ({ writer }) =>
    writer.change({
      ids,
      apply(draft) {
        for (const id of gone) draft.remove(id);
        for (const memory of memories) draft.put(memory);
      },
    }),
  );
}

/** Finds what is in the first table and not just so in the second, and what is in the second alone. */
async function compareTables(from: string, to: string, use: OpenTables["use"]) {
  const there = new Map<string, bigint>();
  await use(to, async ({ table }) => {
    for await (const rows of table.rows()) {
      for (const row of rows) there.set(row.id, fingerprint(row));
    }
  });
  const missing: string[] = [];
  let total = 0;
  await use(from, async ({ table }) => {
    for await (const rows of table.rows()) {
      total += rows.length;
      for (const row of rows) {
        if (there.get(row.id) !== fingerprint(row)) missing.push(row.id);
        there.delete(row.id);
      }
    }
  });
  return { total, missing, gone: there.keys() };
}

/** The same for memories that differ in their vectors alone. */
function fingerprint(row: MemoryRow): bigint {
  return BigInt(Bun.hash(JSON.stringify(toMemory(row))));
}
