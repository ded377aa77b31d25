/** The SHA-256 of a text, in hex. */
export function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** Size and hash of a file. */
export interface FileDigest {
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** Computes the size and hash of a content from its pieces. */
export function createDigester() {
  const hash = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  return {
    add(chunk: Uint8Array) {
      hash.update(chunk);
      bytes += chunk.length;
    },
    bytes: () => bytes,
    /** Call it once. */
    digest: (): FileDigest => ({ bytes, sha256: hash.digest("hex") }),
  };
}
