interface Package {
  readonly version: string;
  readonly repository: string;
  /** The account on GitHub that the repository belongs to. */
  readonly owner: string;
  readonly architecture: string;
  /** The oldest version of glibc that will do. */
  readonly glibc: string;
  readonly kibibytes: number;
}

/**
 * The control file of a package; see deb-control(5). What it depends on are the libraries that the program
 * and ONNX Runtime in it are linked with, by the newest symbols that they ask for (of C++, CXXABI_1.3.11),
 * and what the maintainer scripts call.
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
 meaning, over HTTP and the Model Context Protocol. The embedding model is
 inside: it needs no cloud and no network, and no text leaves the machine.
 .
 The package has a service of systemd with a user of its own. It is not
 started before "systemctl enable --now ctxd".
`;
}

/** The address of an account on GitHub at which nobody is found who did not say so. */
export function maintainer(owner: string): string {
  return `${owner} <${owner}@users.noreply.github.com>`;
}
