import type { Database } from "../db/database.ts";
import type { Checks } from "../http/health.ts";
import type { Vault } from "../memories/base/vault.ts";
import type { Log as MemoryLog } from "../memories/log/log.ts";

/** The stores of a server's data, on its disk or shared. */
export interface Data {
  readonly db: Database;
  /** The log of memories. */
  readonly log: MemoryLog;
  /** The vault that several servers share. Without it, the disk is the vault. */
  readonly vault?: Vault;
  /** Checks of remote stores other than the database. */
  readonly checks: Checks;
  close(): Promise<void>;
}
