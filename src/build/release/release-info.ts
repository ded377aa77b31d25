import type { TargetName } from "../../native/targets.ts";

/** A release. The modules of this folder write its packages and documents. */
export interface Release {
  /** The version of package.json: three numbers. */
  readonly version: string;
  /** The repository's address without a trailing slash: https://github.com/OWNER/ctxd. */
  readonly repository: string;
  /** Paths of the built executables. */
  readonly executables: Readonly<Partial<Record<TargetName, string>>>;
  /** The folder of the release's files. */
  readonly out: string;
}

/** The download address of a release's file on GitHub. */
export function downloadUrl({ repository, version }: Release, file: string): string {
  return `${repository}/releases/download/v${version}/${file}`;
}

/** The GitHub account that owns the repository. Packages name it as their publisher. */
export function ownerOf({ repository }: Pick<Release, "repository">): string {
  return new URL(repository).pathname.split("/")[1] ?? "";
}

/**
 * The server's name in the MCP registry. It begins with the owner of the repository on GitHub. A listed package
 * must contain the same name, which proves the ownership: as `mcpName` in package.json, or as the label
 * `io.modelcontextprotocol.server.name` of an image.
 */
export function mcpName(release: Pick<Release, "repository">): string {
  return `io.github.${ownerOf(release)}/ctxd`;
}

/** The published name of a release's image. Image names have no capital letters. */
export function imageName({ repository, version }: Pick<Release, "repository" | "version">) {
  return `ghcr.io${new URL(repository).pathname.toLowerCase()}:${version}`;
}
