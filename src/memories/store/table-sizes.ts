import type { Vault } from "../base/vault.ts";
import type { Log } from "../log/log.ts";
import { accountOf } from "../log/names.ts";
import type { Usage } from "../model/quota.ts";
import type { OpenTables } from "./open-tables.ts";
import type { Store } from "./store.ts";

/** Bytes of a table's base on disk, and of its pending changes if the table is open. */
export async function bytesOfTable(
  name: string,
  {
    tables,
    log,
    vault,
  }: { tables: Pick<OpenTables, "opened">; log: Pick<Log, "head">; vault: Pick<Vault, "bytes"> },
): Promise<number> {
  const pending = tables.opened().find((table) => table.name === name)?.pending.bytes ?? 0;
  const head = await log.head(name);
  return pending + (head?.checkpoint ? await vault.bytes(head.checkpoint.base) : 0);
}

/** The usage of a table. Opens it only where the log has not counted the usage. */
export async function usageOfTable(
  name: string,
  { log, use }: { log: Pick<Log, "head">; use: Store["use"] },
): Promise<Usage> {
  const head = await log.head(name);
  if (head === null) return { memories: 0, bytes: 0 };
  return head.usage ?? (await use(accountOf(name), async ({ table }) => ({ ...table.usage })));
}

/** Accounts that have a table. */
export async function accountsIn(log: Pick<Log, "tables">): Promise<string[]> {
  return [...new Set((await log.tables()).map(accountOf))];
}
