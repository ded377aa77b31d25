import { CtxdError } from "../../errors.ts";

/**
 * Where the files of bases are durable. LanceDB itself never waits for the disk, and does not notice
 * when the last write to a file fails.
 */
export interface Vault {
  /**
   * Makes files of a base durable. Once it has resolved they outlast a power cut.
   * @param files relative to the base's folder
   * @throws TornFile when one was not written to its end, or what the disk reports
   */
  keep(base: string, files: readonly string[]): Promise<void>;
  /**
   * Makes the local folder of a base hold these files and no others.
   * @throws AppError `unavailable` when one of them can't be had
   */
  restore(base: string, files: readonly string[]): Promise<void>;
  /** Removes bases with all their files, durably. */
  forget(bases: readonly string[]): Promise<void>;
  /** Keeps the local files of a base until the returned function is called. */
  hold(base: string): () => void;
  /** Names of all bases that have files here, complete or not. */
  bases(): Promise<string[]>;
  /** All files of a base, relative to its folder. */
  files(base: string): Promise<string[]>;
  /** Those of them that are to be kept for its newest version. */
  needed(base: string): Promise<string[]>;
  /** Bytes of all files of a base. */
  bytes(base: string): Promise<number>;
}

/** A file of a base was not written to its end. */
export class TornFile extends CtxdError {
  override readonly name = "TornFile";
  readonly code = "torn_file";
  constructor(path: string) {
    super(`${path} was not written to its end: the disk is full or reports errors`);
  }
}
