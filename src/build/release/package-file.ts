import { chmod, copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** A text, bytes, or the path of a file to copy. */
export type Content = string | Uint8Array | { readonly path: string };

/** Writes a file of a package and its parent folders. Its mode is independent of the umask. */
export async function writePackageFile(
  path: string,
  content: Content,
  mode = 0o644,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (typeof content === "string" || content instanceof Uint8Array) await Bun.write(path, content);
  else await copyFile(content.path, path);
  await chmod(path, mode);
}
