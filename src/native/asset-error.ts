import { CtxdError, errorCode, messageOf } from "../errors.ts";
import { isNewerGlibc, TARGETS } from "./targets.ts";

/** An asset cannot be unpacked or loaded. `message` is the only line that the user sees. */
export class AssetError extends CtxdError {
  readonly code = "asset_unusable";
}

/** What the embedded libraries need; the same for each Linux target. */
const { glibc: GLIBC } = TARGETS["linux-x64"];

const REMEDY = "set CTXD_CACHE_DIR to another folder";

/** Explains in one sentence why `folder` cannot hold an asset. Returns an AssetError unchanged. */
export function explainFolderError(cause: unknown, folder: string): AssetError {
  if (cause instanceof AssetError) return cause;
  const reason = REASONS[errorCode(cause)] ?? `cannot be used (${messageOf(cause)})`;
  return new AssetError(`The cache folder ${folder} ${reason}: ${REMEDY}.`, { cause });
}

/** Explains in one sentence why a complete library in `folder` cannot be loaded. */
export function explainLoadError(cause: unknown, folder: string): AssetError {
  const message = messageOf(cause);
  for (const [symptom, explain] of SYMPTOMS) {
    const found = symptom.exec(message);
    if (found) return new AssetError(explain(folder, found), { cause });
  }
  return new AssetError(
    `The cache folder ${folder} holds a native library that this system cannot load (${message}): ${REMEDY}.`,
    { cause },
  );
}

/** Error messages of systems that do not load a library, and their explanations. */
const SYMPTOMS: [RegExp, (folder: string, found: RegExpExecArray) => string][] = [
  // glibc and musl: a file on a noexec mount. macOS: a quarantined file.
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
    // The message names one missing version. Newer ones may be missing too.
    (_, [, version = GLIBC]) =>
      `ctxd needs glibc ${isNewerGlibc(version, GLIBC) ? version : GLIBC} or later, and this system's is older: run it on a newer one, or in a container.`,
  ],
  // Windows error 126. The Visual C++ runtime is the only library that a Windows may lack.
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
