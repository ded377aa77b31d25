import { CtxdError, messageOf } from "../errors.ts";
import { isNewer } from "./elf-versions.ts";
import { TARGETS } from "./targets.ts";

/** An asset cannot be put in place or loaded. `message` is the one line that the user sees. */
export class AssetError extends CtxdError {
  override readonly name = "AssetError";
  readonly code = "asset_unusable";
}

/** What the libraries inside ask for; the same on each Linux. */
const { glibc: GLIBC } = TARGETS["linux-x64"];

const REMEDY = "set CTXD_CACHE_DIR to another folder";

/** Says in one sentence why `folder` cannot hold an asset, or gives back an error that says so already. */
export function explainFolderError(cause: unknown, folder: string): AssetError {
  if (cause instanceof AssetError) return cause;
  const reason = REASONS[errorCode(cause)] ?? `cannot be used (${messageOf(cause)})`;
  return new AssetError(`The cache folder ${folder} ${reason}: ${REMEDY}.`, { cause });
}

/** Says in one sentence why a library that is in `folder`, complete, cannot be loaded. */
export function explainLoadError(cause: unknown, folder: string): AssetError {
  const said = messageOf(cause);
  for (const [symptom, explain] of SYMPTOMS) {
    const found = symptom.exec(said);
    if (found) return new AssetError(explain(folder, found), { cause });
  }
  return new AssetError(
    `The cache folder ${folder} holds a native library that this system cannot load (${said}): ${REMEDY}.`,
    { cause },
  );
}

/** What systems say of a library that they don't load, and what that means. */
const SYMPTOMS: [RegExp, (folder: string, found: RegExpExecArray) => string][] = [
  // What glibc's and musl's dlopen say of a file on a noexec mount, and macOS of a quarantined one.
  [
    /failed to map segment|operation not permitted|not allowed/i,
    (folder) =>
      `The cache folder ${folder} is mounted noexec, and native libraries are loaded from it: ${REMEDY}.`,
  ],
  [
    /version .GLIBC_[\d.]+' not found \(required by \S*\/libstdc/,
    () =>
      "This system has no C++ library, and the one inside ctxd needs a newer glibc than there is: install libstdc++6 (Debian, Ubuntu) or libstdc++ (Fedora, RHEL).",
  ],
  [
    /version .GLIBC_([\d.]+)' not found/,
    // It names the first version that is missing, of which there may be newer ones.
    (_, [, version = GLIBC]) =>
      `ctxd needs glibc ${isNewer(version, GLIBC) ? version : GLIBC} or later, and this system's is older: run it on a newer one, or in a container.`,
  ],
  // Windows' error 126: of all libraries that ours ask for, it may lack these.
  [
    /specified module could not be found/i,
    () =>
      "ctxd needs the Visual C++ runtime, which this Windows lacks: install https://aka.ms/vs/17/release/vc_redist.x64.exe.",
  ],
];

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
