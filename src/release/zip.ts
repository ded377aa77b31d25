import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";

/** A file of an archive: one of the disk, or a text. */
export type ZipEntry = { readonly name: string; readonly isExecutable?: boolean } & (
  | { readonly path: string }
  | { readonly text: string }
);

/** The first moment that a ZIP archive can name, in whatever time zone it is made. */
const MOMENT = new Date(1980, 0, 1);

/** Writes a ZIP archive. The same files make the same bytes: no time of theirs goes into it. */
export async function writeZip(path: string, entries: readonly ZipEntry[]): Promise<void> {
  const archive = new ZipFile();
  for (const entry of entries) {
    const mode = entry.isExecutable ? 0o100755 : 0o100644;
    const options = { mtime: MOMENT, forceDosTimestamp: true, mode };
    if ("path" in entry) archive.addFile(entry.path, entry.name, options);
    else archive.addBuffer(Buffer.from(entry.text), entry.name, options);
  }
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(path));
}
