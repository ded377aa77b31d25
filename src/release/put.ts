import { chmod, copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** A text, bytes, or the file to be copied. */
export type Content = string | Uint8Array | { readonly path: string };

/** Writes a file of a package, with its folders, in a mode that no umask changes. */
export async function put(path: string, content: Content, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (typeof content === "string" || content instanceof Uint8Array) await Bun.write(path, content);
  else await copyFile(content.path, path);
  await chmod(path, mode);
}
