import type { Asset } from "./asset.ts";
import { type EmbeddedFile, embedded } from "./embedded.ts";

/** Whether this is the executable. Otherwise the program runs from a checkout, with its node_modules. */
export const isCompiled = Bun.isStandaloneExecutable;

/** An asset that the executable carries; null in a checkout, and for one that its system does not need. */
export function embeddedAsset(name: string): Asset | null {
  const files = embedded[name];
  if (!files || files.length === 0) return null;
  return {
    name,
    files: files.map((file) => ({
      name: file.name,
      bytes: file.bytes,
      sha256: file.sha256,
      origin: `The ${file.name} inside this executable`,
      open: () => decompress(file),
    })),
  };
}

function decompress({ path }: EmbeddedFile): AsyncIterable<Uint8Array> {
  return Bun.file(path).stream().pipeThrough(new DecompressionStream("zstd"));
}
