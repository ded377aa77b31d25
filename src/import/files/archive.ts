import { Readable } from "node:stream";
import yauzl, { type Entry, RandomAccessReader, type ZipFile } from "yauzl";
import type { InputFile } from "./input-file.ts";
import { maxUnpacked, SourceError } from "./source.ts";

const MAX_FILES = 100_000;
/** The mode of a symbolic link (`S_IFLNK`), in the upper half of a file's attributes. */
const LINK = 0xa000;

interface ArchivedFile extends InputFile {
  size: number;
}

/**
 * The files of a ZIP archive, without folders and links. A file is unpacked while it is read, and
 * nothing is written to disk, so the archive may be larger than memory.
 * @throws SourceError when the archive is damaged or unpacks to too many bytes
 */
export async function openArchive(
  blob: Blob,
  name: string,
): Promise<{ files: ArchivedFile[]; close(): void }> {
  const zip = await open(blob, name);
  const entries: Entry[] = [];
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: unknown) =>
      reject(new SourceError(name, "is a damaged archive", { cause }));
    zip.on("entry", (entry) => {
      if (entries.push(entry) > MAX_FILES) {
        reject(new SourceError(name, `has more than ${MAX_FILES} files`));
      } else zip.readEntry();
    });
    zip.on("end", resolve);
    zip.on("error", fail);
    zip.readEntry();
  }).catch((error) => {
    zip.close();
    throw error;
  });
  const budget = { bytes: maxUnpacked(blob.size) };
  const files = entries.filter(isFile).map((entry) => toFile(zip, entry, name, budget));
  return { files, close: () => zip.close() };
}

function open(blob: Blob, name: string): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true } as const;
  yauzl.fromRandomAccessReader(new BlobReader(blob), blob.size, options, (cause, zip) => {
    if (zip) resolve(zip);
    else reject(new SourceError(name, "is a damaged archive", { cause }));
  });
  return promise;
}

class BlobReader extends RandomAccessReader {
  readonly #blob: Blob;

  constructor(blob: Blob) {
    super();
    this.#blob = blob;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#blob.slice(start, end).stream());
  }
}

function isFile({ fileName, externalFileAttributes }: Entry): boolean {
  const isLink = ((externalFileAttributes >>> 16) & 0xf000) === LINK;
  return !fileName.endsWith("/") && !isLink;
}

function toFile(
  zip: ZipFile,
  entry: Entry,
  archive: string,
  budget: { bytes: number },
): ArchivedFile {
  const { fileName, uncompressedSize: size } = entry;
  const name = archive === "" ? fileName : `${archive}, ${fileName}`;
  return {
    name,
    fileName,
    size,
    modifiedAt: entry.getLastModDate().getTime() || null,
    async *read() {
      if (entry.isEncrypted()) throw new SourceError(name, "is encrypted");
      // An archive can list the same few bytes as many files, so their sizes are summed up here.
      budget.bytes -= size;
      if (budget.bytes < 0) throw new SourceError(name, "unpacks to too many bytes");
      const { promise, resolve, reject } = Promise.withResolvers<Readable>();
      zip.openReadStream(entry, (cause, stream) => (stream ? resolve(stream) : reject(cause)));
      try {
        for await (const chunk of await promise) yield chunk;
      } catch (cause) {
        throw new SourceError(name, "is damaged", { cause });
      }
    },
  };
}
