import type { Content } from "../../objects/body.ts";

/** What files of a base contain, by name. */
export type Contents = Readonly<Record<string, Content>>;

/**
 * The database's records of the bases in an object store. They decide which bases are wanted. A base that is not
 * wanted never becomes wanted again. Names are never used twice.
 */
export interface BaseRecords {
  /**
   * Records that a base is being written. Call this before the first object is written.
   * @throws when this process may not write to the base's table now
   */
  begin(base: string): Promise<void>;
  /**
   * Records what files of a base contain, before a checkpoint refers to them. A version that got no checkpoint may
   * be written again with the same names: then the later content counts.
   */
  describe(base: string, contents: Contents): Promise<void>;
  /** What the files of a base contain. Files that an earlier version has stored are missing. */
  contents(base: string): Promise<Contents>;
  /** Those of some bases to which a checkpoint refers, or which are being written. */
  wanted(bases: readonly string[]): Promise<Set<string>>;
  /**
   * Those of some bases whose accounts exist, or that are recorded. Others may be in use by another installation
   * that was given the same place by mistake.
   */
  ours(bases: readonly string[]): Promise<Set<string>>;
  /**
   * Marks bases for removal, except those to which a checkpoint refers. From then on, no checkpoint that
   * refers to a marked base can be recorded.
   * @returns the bases to remove, including those that were never recorded
   */
  condemn(bases: readonly string[]): Promise<string[]>;
  /**
   * All recorded bases to remove: `condemn` marked them, a checkpoint has replaced them, their table was
   * forgotten, or the process that wrote them lost its lease before it recorded a checkpoint.
   */
  condemned(): Promise<string[]>;
  /** Drops the records of bases whose objects have been removed. */
  gone(bases: readonly string[]): Promise<void>;
}
