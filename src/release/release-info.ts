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
export function ownerOf({ repository }: Pick<Release, "repository">): string {
  return new URL(repository).pathname.split("/")[1] ?? "";
}

/**
 * The server's name in the MCP registry, whose first half is that of the repository's owner on GitHub.
 * A package that the registry lists has the same name in it, as the sign that it is the owner's:
 * `mcpName` in the package.json of npm's, the label `io.modelcontextprotocol.server.name` of an image.
 */
export function mcpName(release: Pick<Release, "repository">): string {
  return `io.github.${ownerOf(release)}/ctxd`;
}

/** The name that the image of a release is published by. Names of images have no capitals. */
export function imageName({ repository, version }: Pick<Release, "repository" | "version">) {
  return `ghcr.io${new URL(repository).pathname.toLowerCase()}:${version}`;
}
