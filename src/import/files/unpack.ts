import { SourceError } from "./source.ts";

/** Limit of unpacked to packed bytes. Text is compressed to a twentieth at best. */
const MAX_RATIO = 200;
/** Unpacked bytes that are always allowed. */
const MIN_UNPACKED_BYTES = 1 << 20;

/** The most bytes that a compressed file may unpack to: a few kilobytes can be made to unpack to any size. */
export function maxUnpacked(packedBytes: number): number {
  return MIN_UNPACKED_BYTES + MAX_RATIO * packedBytes;
}

/**
 * Unpacks Zstandard piece by piece (RFC 8878).
 * @param name for error messages
 * @throws SourceError when the file is damaged or unpacks to too many bytes
 */
export async function* unpackZstd(
  packed: Uint8Array<ArrayBuffer>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const pieces = new Blob([packed]).stream().pipeThrough(new DecompressionStream("zstd"));
  let left = maxUnpacked(packed.length);
  try {
    for await (const piece of pieces) {
      left -= piece.length;
      if (left < 0) throw new SourceError(name, "unpacks to too many bytes");
      yield piece;
    }
  } catch (cause) {
    if (cause instanceof SourceError) throw cause;
    throw new SourceError(name, "is damaged", { cause });
  }
}
