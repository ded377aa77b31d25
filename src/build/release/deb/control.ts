interface Package {
  readonly version: string;
  readonly repository: string;
  /** The GitHub account that owns the repository. */
  readonly owner: string;
  readonly architecture: string;
  /** The oldest glibc version that works. */
  readonly glibc: string;
  readonly kibibytes: number;
}

/**
 * The control file of a package; see deb-control(5). It depends on the libraries that the program and its ONNX
 * Runtime are linked with, in the version of the newest needed symbols (for C++ CXXABI_1.3.11), and on the
 * programs that the maintainer scripts call.
 */
export function control({
  version,
  repository,
  owner,
  architecture,
  glibc,
  kibibytes,
}: Package): string {
  return `Package: ctxd
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer(owner)}
Installed-Size: ${kibibytes}
Depends: libc6 (>= ${glibc}), libgcc-s1, libstdc++6 (>= 7), systemd | systemd-standalone-sysusers | systemd-sysusers, systemd | systemd-standalone-tmpfiles | systemd-tmpfiles
Section: utils
Priority: optional
Homepage: ${repository}
Description: private long-term memory for AI agents
 ctxd stores pieces of text for a user account and finds them again by
 meaning, over HTTP and the Model Context Protocol. It contains the embedding
 model, so it needs no cloud and no network, and no text leaves the machine.
 .
 The package contains a systemd service with its own user. Start it with
 "systemctl enable --now ctxd".
`;
}

/** The private e-mail address of a GitHub account. */
export function maintainer(owner: string): string {
  return `${owner} <${owner}@users.noreply.github.com>`;
}
