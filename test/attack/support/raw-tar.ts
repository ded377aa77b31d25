import { gzipSync } from "node:zlib";

const BLOCK = 512;

interface Entry {
  path: string;
  content?: string | Buffer;
  /** `0` is a file, `1` and `2` are links, `3` is a device, `5` a folder, `L` and `x` name the next entry. */
  type?: string;
  /** Where a link leads. */
  link?: string;
  /** The folder before the path. */
  prefix?: string;
  /** In the place of the content's. */
  size?: string;
  /** In the place of the right one. */
  sum?: string;
}

/** A .tar.gz with any headers, also those that no program writes. */
export function rawArchive(entries: readonly Entry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.map(entryOf), Buffer.alloc(2 * BLOCK)]));
}

function entryOf({ path, content = "", type = "0", link = "", prefix = "", size, sum }: Entry) {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write("0000777\0", 100);
  header.write(size ?? bytes.length.toString(8).padStart(11, "0"), 124, 12, "latin1");
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\x0000", 257);
  header.write(prefix, 345, 155);
  const total = header.reduce((all, byte) => all + byte, 0);
  header.write(sum ?? `${total.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = Buffer.alloc(-bytes.length & (BLOCK - 1));
  return Buffer.concat([header, bytes, padding]);
}
