import type * as LanceDb from "@lancedb/lancedb";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { type MemoryTable, openTable } from "./table.ts";
import { createWriter, type Writer } from "./writer.ts";

/** The tables of all accounts, opened when they are used. */
export interface Store {
  /** Runs `task` on the account's table, which stays open meanwhile. */
  use<Result>(accountId: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /** Removes an account's table with all that is in it, if there is one. */
  drop(accountId: string): Promise<void>;
  /** Accounts that have a table. */
  accounts(): Promise<string[]>;
  /** Resolves when all writes that were begun are done. */
  close(): Promise<void>;
}

export interface OpenTable {
  table: MemoryTable;
  writer: Writer;
}

interface Slot {
  opened: Promise<OpenTable>;
  users: number;
}

/** Bytes of LanceDB's caches for all tables together; its own defaults are 6 GiB and 1 GiB. */
const INDEX_CACHE = 224n << 20n;
const METADATA_CACHE = 32n << 20n;
const MAX_OPEN = 256;

/** Opens the store in a folder, which is made when it isn't there. One process at a time. */
export async function openStore({
  lancedb,
  folder,
  model,
}: {
  lancedb: typeof LanceDb;
  folder: string;
  model: EmbeddingModel;
}): Promise<Store> {
  const session = new lancedb.Session(INDEX_CACHE, METADATA_CACHE);
  const connection = await lancedb.connect(folder, {}, session);
  /** In the order of last use. */
  const slots = new Map<string, Slot>();

  const open = async (accountId: string): Promise<OpenTable> => {
    const table = await openTable(lancedb, connection, accountId, model);
    return { table, writer: createWriter(table) };
  };

  /** A second handle would not see the first one's writes: a table in use is never closed. */
  const closeLeastUsed = () => {
    for (const [accountId, { users }] of slots) {
      if (slots.size <= MAX_OPEN) return;
      if (users === 0) slots.delete(accountId);
    }
  };

  const accounts = () => connection.tableNames({ limit: 1_000_000 });

  return {
    accounts,

    async use(accountId, task) {
      const slot = slots.get(accountId) ?? { opened: open(accountId), users: 0 };
      slots.delete(accountId);
      slots.set(accountId, slot);
      slot.users++;
      closeLeastUsed();
      try {
        return await task(await slot.opened);
      } catch (error) {
        // A table that could not be opened is tried again by the next request.
        await slot.opened.catch(() => slots.get(accountId) === slot && slots.delete(accountId));
        throw error;
      } finally {
        slot.users--;
      }
    },

    async drop(accountId) {
      const slot = slots.get(accountId);
      slots.delete(accountId);
      await slot?.opened.then(({ writer }) => writer.idle()).catch(() => {});
      if ((await accounts()).includes(accountId)) await connection.dropTable(accountId);
    },

    async close() {
      const opened = await Promise.allSettled([...slots.values()].map((slot) => slot.opened));
      for (const result of opened) {
        if (result.status === "fulfilled") await result.value.writer.idle();
      }
      connection.close();
    },
  };
}
