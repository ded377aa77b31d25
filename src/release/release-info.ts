import type { TargetName } from "../native/targets.ts";

/** A release, of which each part of this folder makes what it is handed out as. */
export interface Release {
  /** As package.json has it: three numbers. */
  readonly version: string;
  /** The repository's address, without a slash at its end: https://github.com/OWNER/ctxd. */
  readonly repository: string;
  /** Paths of the executables that were built. */
  readonly executables: Readonly<Partial<Record<TargetName, string>>>;
  /** The folder of what is released. */
  readonly out: string;
}

/** The address at which GitHub serves a file of a release. */
export function downloadUrl({ repository, version }: Release, file: string): string {
  return `${repository}/releases/download/v${version}/${file}`;
}

/** Who owns the repository on GitHub: the publisher of a release, where a package names one. */
export function ownerOf({ repository }: Release): string {
  return new URL(repository).pathname.split("/")[1] ?? "";
}
