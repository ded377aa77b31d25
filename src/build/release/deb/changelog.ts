import { ownerOf, type Release } from "../release-info.ts";
import { maintainer } from "./control.ts";

/** The package's changelog in Debian's format, deb-changelog(5). It refers to the project's changelog. */
export function changelog(release: Release, date: Date): string {
  const time = date.toUTCString().replace("GMT", "+0000");
  return `ctxd (${release.version}) unstable; urgency=medium

  * Changes in this version: /usr/share/doc/ctxd/CHANGELOG.md.gz

 -- ${maintainer(ownerOf(release))}  ${time}
`;
}
