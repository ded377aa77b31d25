import { join } from "node:path";
import type { Bases } from "../../src/memories/base/base.ts";
import type { OnStep } from "../../src/memories/base/bases.ts";
import { memoryCodec } from "../../src/memories/base/memory-codec.ts";
import type { LocalLog } from "../../src/memories/log/log.ts";
import { createSqliteLog } from "../../src/memories/log/sqlite-log.ts";
import type { StoredMemory } from "../../src/memories/model/rows.ts";
import { openTable } from "../../src/memories/table/open-table.ts";
import { createWriter } from "../../src/memories/table/writer.ts";
import { createFlush } from "../../src/memories/upkeep/flush.ts";
import { UPKEEP_LIMITS, type UpkeepLimits } from "../../src/memories/upkeep/flush-state.ts";
import { model, testBases } from "./bases.ts";
import { temporaryFolder, testDatabase } from "./database.ts";
import { fakeEmbedder } from "./fake-embedder.ts";

/** The name of the one table. */
export const TABLE = "acc_1";

/** Flushes that are due at once, and a table that is large from ten rows on. */
export const AT_ONCE: UpkeepLimits = {
  ...UPKEEP_LIMITS,
  idle: 0,
  forgetAfter: 0,
  largeRows: 10,
  indexAfter: 0,
};

/** Where the files of tables of a test are, which outlast the tables. */
export async function tableStorage(step?: OnStep) {
  const folder = temporaryFolder();
  const log = createSqliteLog({ db: testDatabase(folder) });
  return { log, bases: await testBases(step, join(folder, "memories")) };
}
export type TableStorage = Awaited<ReturnType<typeof tableStorage>>;

/**
 * Opens a table with what writes and flushes it, as its checkpoint and the log have it. Nothing is
 * flushed unless the test does it.
 */
export async function openKeptTable(
  { log, bases }: TableStorage,
  {
    due = AT_ONCE,
    hasRoom = true,
    wrapLog = (log) => log,
    wrapBases = (bases) => bases,
  }: {
    due?: UpkeepLimits;
    hasRoom?: boolean;
    wrapLog?: (log: LocalLog) => LocalLog;
    wrapBases?: (bases: Bases) => Bases;
  } = {},
) {
  const table = await openTable(TABLE, {
    storage: { log, bases, vault: bases.vault, codec: memoryCodec, step: () => {} },
    wanted: model,
    largeRows: due.largeRows,
    viewMemory: { bytes: hasRoom ? 1 << 30 : 0, make: () => hasRoom },
  });
  const { append } = log;
  const writer = createWriter({ table, log: { append }, quotaOf: async () => null, onCommit() {} });
  const flush = createFlush({
    table,
    log: wrapLog(log),
    bases: wrapBases(bases),
    vault: bases.vault,
    due,
    relate: fakeEmbedder().relate,
    step: () => {},
  });
  return {
    table,
    writer,
    flush,
    /** Adds or replaces memories, in one commit. */
    put: (...memories: StoredMemory[]) =>
      writer.change({
        ids: memories.map(({ id }) => id),
        apply: (draft) => memories.forEach(draft.put),
      }),
    remove: (...ids: string[]) =>
      writer.change({ ids, apply: (draft) => ids.forEach(draft.remove) }),
    close() {
      table.view.close();
      return table.base.replace(null);
    },
  };
}
export type OpenKeptTable = Awaited<ReturnType<typeof openKeptTable>>;

/** All ids that a table has, in order. */
export async function idsIn({ table }: Pick<OpenKeptTable, "table">): Promise<string[]> {
  return (await table.select({})).sort();
}
