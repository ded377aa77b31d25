import { CtxdError } from "../../errors.ts";

/**
 * Makes the files of bases durable. LanceDB itself never waits for the disk, and does not notice when the last
 * write to a file fails.
 */
export interface Vault {
  /**
   * Makes files of a base durable. From then on, they survive a power cut.
   * @param files relative to the base's folder
   * @throws TornFile when a file is incomplete; or the disk's error
   */
  keep(base: string, files: readonly string[]): Promise<void>;
  /**
   * Makes the local folder of a base contain exactly these files.
   * @throws AppError `unavailable` when one of them can't be restored
   */
  restore(base: string, files: readonly string[]): Promise<void>;
  /** Removes bases with all their files, durably. */
  forget(bases: readonly string[]): Promise<void>;
  /** Keeps the local files of a base until the returned function is called. */
  hold(base: string): () => void;
  /** Names of all bases that have local files, complete or not. */
  bases(): Promise<string[]>;
  /** All files of a base, relative to its folder. */
  files(base: string): Promise<string[]>;
  /** Those of its files that its newest version needs. */
  needed(base: string): Promise<string[]>;
  /** Bytes of all files of a base. */
  bytes(base: string): Promise<number>;
}

/** A file of a base is incomplete. */
export class TornFile extends CtxdError {
  readonly code = "torn_file";
  constructor(path: string) {
    super(`${path} was not written to its end: the disk is full or reports errors`);
  }
}
