/** A file inside the executable, compressed with zstd. */
export interface EmbeddedFile {
  readonly name: string;
  /** Size and SHA-256 (in hex) of the uncompressed content. */
  readonly bytes: number;
  readonly sha256: string;
  /** Path in the executable's own file system. */
  readonly path: string;
}

/** The files that the executable carries, by asset. A checkout has none: the build replaces this module. */
export const embedded: Readonly<Record<string, readonly EmbeddedFile[]>> = {};
