import { crc32, deflateRawSync } from "node:zlib";

interface Part {
  name: string;
  content: string | Uint8Array;
  /** What the archive says of it, where that is not so. */
  saysSize?: number;
  /** Bits of the header, such as 1 for encrypted. */
  flags?: number;
}

/** A ZIP archive as programs write it (APPNOTE.TXT of PKWARE), or as nobody should. */
export function zip(parts: readonly Part[], { repeat = 1 }: { repeat?: number } = {}): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content, saysSize, flags = 0 } of parts) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    // Bit 11: names are UTF-8.
    common.writeUInt16LE(0x800 | flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE((46 << 9) | (3 << 5) | 1, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(saysSize ?? bytes.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(offset, 10);
    const entry = [Buffer.from("PK\x01\x02"), Buffer.from([20, 3]), common, more];
    // The same bytes may be called by many names.
    for (let n = 0; n < repeat; n++) entries.push(Buffer.concat([...entry, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06"), end]);
}
