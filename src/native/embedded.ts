/** A file inside the executable, compressed with zstd. */
export interface EmbeddedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Path in the executable's own file system. */
  readonly path: string;
}

/** What the executable carries, by the name of the asset. */
export type Embedded = Readonly<Record<string, readonly EmbeddedFile[]>>;

/** Nothing in a checkout: `bun run build` puts a generated module in the place of this one. */
export const embedded: Embedded = {};
