import type { EmbeddingModel } from "../embedding/embedder.ts";
import type { LanceDb } from "../native/lancedb.ts";
import type { Bases, MemoryCodec } from "./base/base.ts";
import { createBases, type OnStep } from "./base/bases.ts";
import { memoryCodec } from "./base/codec.ts";
import { createDiskVault } from "./base/disk-vault.ts";
import type { Vault } from "./base/vault.ts";
import type { Log } from "./log/log.ts";

/** Where memories are kept: what tables are made of. */
export interface Storage {
  log: Log;
  vault: Vault;
  bases: Bases;
  codec: MemoryCodec;
  /** Is told of each step of a flush. */
  step: OnStep;
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
  wanted,
  step = () => {},
}: {
  lancedb: LanceDb;
  folder: string;
  log: Log;
  /** The model in use. */
  wanted: EmbeddingModel;
  step?: OnStep;
}): Storage {
  const vault = createDiskVault(folder);
  const bases = createBases({ lancedb, folder, vault, wanted, step });
  return { log, vault, bases, codec: memoryCodec, step };
}
