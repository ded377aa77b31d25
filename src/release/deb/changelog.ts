import { join } from "node:path";
import { ownerOf, type Release } from "../release-info.ts";
import { maintainer } from "./control.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");

/** The package's changelog in Debian's format, deb-changelog(5). What is new is in the project's own. */
export function changelog(release: Release, date: Date): string {
  const time = date.toUTCString().replace("GMT", "+0000");
  return `ctxd (${release.version}) unstable; urgency=medium

  * What is new in this version: /usr/share/doc/ctxd/CHANGELOG.md.gz

 -- ${maintainer(ownerOf(release))}  ${time}
`;
}

/** The day that the CHANGELOG gives a version; for one that it does not know yet, when the executable was built. */
export async function releaseDate(version: string, executable: string): Promise<Date> {
  const text = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
  const heading = text.split("\n").find((line) => line.startsWith(`## [${version}]`));
  const day = /\d{4}-\d{2}-\d{2}/.exec(heading ?? "")?.[0];
  if (day) return new Date(`${day}T00:00:00Z`);
  return new Date(Math.floor(Bun.file(executable).lastModified / 1000) * 1000);
}
