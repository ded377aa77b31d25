/**
 * What the database knows of the bases in an object store. It decides which of them are wanted, and
 * never wants one again that it did not want. Names are never used twice.
 */
export interface BaseRecords {
  /**
   * Records that a base is being written; before its first object is.
   * @throws when this process may not write to the base's table now
   */
  begin(base: string): Promise<void>;
  /** Which of these bases a checkpoint refers to, or are being written. */
  wanted(bases: readonly string[]): Promise<Set<string>>;
  /**
   * Decides that bases are to be removed, but for those that a checkpoint refers to. No checkpoint that
   * refers to one of the others can be recorded any more.
   * @returns those that are to be removed, also those that were never recorded
   */
  condemn(bases: readonly string[]): Promise<string[]>;
  /**
   * All recorded bases that are to be removed: by `condemn`, since a checkpoint has taken their
   * place, since their table was forgotten, or since who began them lost its lease and has recorded no
   * checkpoint.
   */
  condemned(): Promise<string[]>;
  /** Drops the records of bases whose objects are gone. */
  gone(bases: readonly string[]): Promise<void>;
}
