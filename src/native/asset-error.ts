import { messageOf } from "../errors.ts";

/** An asset cannot be put in place or loaded. `message` is the one line that the user sees. */
export class AssetError extends Error {
  override readonly name = "AssetError";
}

const REMEDY = "set CTXD_CACHE_DIR to another folder";

/** Says in one sentence why `folder` cannot hold an asset, or gives back an error that says so already. */
export function explainFolderError(cause: unknown, folder: string): AssetError {
  if (cause instanceof AssetError) return cause;
  const reason = REASONS[errorCode(cause)] ?? `cannot be used (${messageOf(cause)})`;
  return new AssetError(`The cache folder ${folder} ${reason}: ${REMEDY}.`, { cause });
}

/** Says in one sentence why a library that is in `folder`, complete, cannot be loaded. */
export function explainLoadError(cause: unknown, folder: string): AssetError {
  // What glibc's and musl's dlopen say of a file on a noexec mount, and macOS of a quarantined one.
  const refused = /failed to map segment|operation not permitted|not allowed/i;
  const reason = refused.test(messageOf(cause))
    ? "is mounted noexec, and native libraries are loaded from it"
    : `holds a native library that this system cannot load (${messageOf(cause)})`;
  return new AssetError(`The cache folder ${folder} ${reason}: ${REMEDY}.`, { cause });
}

const REASONS: Record<string, string> = {
  EACCES: "cannot be written",
  EPERM: "cannot be written",
  EROFS: "is read-only",
  ENOSPC: "has no space left",
  EDQUOT: "has no space left",
  EFBIG: "has no space left",
  ENOTDIR: "is below something that is not a folder",
  EEXIST: "is not a folder",
};

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
