import type * as LanceDb from "@lancedb/lancedb";
import type { Bases, MemoryCodec } from "./base/base.ts";
import { createBases } from "./base/bases.ts";
import { memoryCodec } from "./base/codec.ts";
import { createDiskVault } from "./base/disk-vault.ts";
import type { Vault } from "./base/vault.ts";
import type { Step } from "./flush.ts";
import type { Log } from "./log/log.ts";

/** Where memories are kept: what tables are made of. */
export interface Storage {
  log: Log;
  vault: Vault;
  bases: Bases;
  codec: MemoryCodec;
  /** Is told of each step of a flush. */
  step: Step;
}

/**
 * Storage on this machine's disk.
 * @param folder for the bases; it must be there
 * @param step ends or holds up a flush in tests
 */
export function createStorage({
  lancedb,
  folder,
  log,
  step = () => {},
}: {
  lancedb: typeof LanceDb;
  folder: string;
  log: Log;
  step?: Step;
}): Storage {
  const vault = createDiskVault(folder);
  const bases = createBases({ lancedb, folder, vault, step });
  return { log, vault, bases, codec: memoryCodec, step };
}
