import { join } from "node:path";
import { readChangelog } from "../../text/changelog.ts";

const CHANGELOG = join(import.meta.dir, "..", "..", "..", "CHANGELOG.md");

/** The date of a version in the CHANGELOG, or the build time of the executable if it is not listed yet. */
export async function releaseDate(version: string, executable: string): Promise<Date> {
  const sections = readChangelog(await Bun.file(CHANGELOG).text());
  const day = sections.find((section) => section.version === version)?.date;
  if (day) return new Date(`${day}T00:00:00Z`);
  return new Date(Math.floor(Bun.file(executable).lastModified / 1000) * 1000);
}
