import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A file of an archive: the path of a file, or a text. */
export type ZipEntry = { readonly name: string; readonly isExecutable?: boolean } & (
  | { readonly path: string }
  | { readonly text: string }
);

/** The earliest time of the ZIP format, in the local time zone. */
const FILE_TIME = new Date(1980, 0, 1);

/** Writes a ZIP archive. It contains no file times, so equal files result in equal bytes. */
export async function writeZip(path: string, entries: readonly ZipEntry[]): Promise<void> {
  const archive = new ZipFile();
  for (const entry of entries) {
    const mode = entry.isExecutable ? 0o100755 : 0o100644;
    const options = { mtime: FILE_TIME, forceDosTimestamp: true, mode };
    if ("path" in entry) archive.addFile(entry.path, entry.name, options);
    else archive.addBuffer(Buffer.from(entry.text), entry.name, options);
  }
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(path));
}
