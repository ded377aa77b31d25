import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { LanceDb } from "../../native/lancedb.ts";
import type { Bases, MemoryCodec } from "../base/base.ts";
import { createDiskVault } from "../base/base-folder.ts";
import { createBases, type OnStep } from "../base/bases.ts";
import { memoryCodec } from "../base/memory-codec.ts";
import type { Vault } from "../base/vault.ts";
import type { Log } from "../log/log.ts";
import type { Checkpoint } from "../log/records.ts";

/** Where memories are stored: the parts that tables are made of. */
export interface Storage {
  log: Log;
  vault: Vault;
  bases: Bases;
  codec: MemoryCodec;
  /** Receives each step of a flush. */
  step: OnStep;
}

/**
 * Storage on the local disk, or with a vault that several servers share.
 * @param folder for the bases; it must exist
 * @param shared keeps the files durable, so that those in the folder may be lost
 * @param step called at each step of a flush; tests use it to stop or delay a flush
 */
export function createStorage({
  lancedb,
  folder,
  log,
  wanted,
  shared,
  step = () => {},
}: {
  lancedb: LanceDb;
  folder: string;
  log: Log;
  /** The model in use. */
  wanted: EmbeddingModel;
  shared?: Vault;
  step?: OnStep;
}): Storage {
  const vault = shared ?? createDiskVault(folder);
  const restore = shared && (({ base, files }: Checkpoint) => shared.restore(base, files));
  const bases = createBases({ lancedb, folder, vault, wanted, restore, step });
  return { log, vault, bases, codec: memoryCodec, step };
}
