import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { readChangelog } from "../../text/changelog.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");
const CHANGELOG = "CHANGELOG.md";
const CHART = "src/deploy/helm/Chart.yaml";

/** The places of the version, beside the headings of the changelog. */
const PLACES: readonly { file: string; pattern: RegExp }[] = [
  { file: "package.json", pattern: /(?<=^ {2}"version": ")[^"]+/m },
  { file: "src/clients/python/pyproject.toml", pattern: /(?<=^version = ")[^"]+/m },
  { file: CHART, pattern: /(?<=^version: )\S+/m },
  { file: CHART, pattern: /(?<=^appVersion: ")[^"]+/m },
];

/**
 * Checks that a checkout has a version everywhere. Returns a sentence for each place that differs.
 * @param root the folder of the checkout
 */
export async function disagreements(version: string, root = ROOT): Promise<string[]> {
  const found: string[] = [];
  for (const { file, pattern } of PLACES) {
    const [present = "none"] = pattern.exec(await Bun.file(join(root, file)).text()) ?? [];
    if (present !== version) found.push(`${file} has ${present}.`);
  }
  const changelog = readChangelog(await Bun.file(join(root, CHANGELOG)).text());
  const newest = changelog.find((section) => section.version !== null);
  if (newest?.version !== version || newest.date === null)
    found.push(`${CHANGELOG} has ${newest?.version ?? "none"} as its newest version.`);
  return found;
}

/**
 * Sets the next version everywhere, and adds its heading above the unreleased changes.
 * @param day the date of the release, as 2026-11-22
 * @throws Error when the version is not newer, or there are no unreleased changes
 */
export async function setVersion(version: string, day: string, root = ROOT): Promise<void> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is not three numbers`);
  const changelog = await Bun.file(join(root, CHANGELOG)).text();
  const sections = readChangelog(changelog);
  const { version: present } = await Bun.file(join(root, "package.json")).json();
  const released = sections.some((section) => section.version === present);
  // The first release may have the version that the checkout already has.
  if (Bun.semver.order(version, present) < (released ? 1 : 0))
    throw new Error(`${version} is not newer than ${present}`);
  if (!sections.find((section) => section.version === null)?.text)
    throw new Error(`${CHANGELOG} has no unreleased changes`);
  for (const { file, pattern } of PLACES) {
    const path = join(root, file);
    await Bun.write(path, (await Bun.file(path).text()).replace(pattern, version));
  }
  const headings = `## [Unreleased]\n\n## [${version}] - ${day}`;
  await Bun.write(join(root, CHANGELOG), changelog.replace(/^## \[Unreleased\]$/m, headings));
}

if (import.meta.main) {
  const [version] = Bun.argv.slice(2);
  try {
    if (!version) throw new Error("usage: bun run version 1.2.3");
    await setVersion(version, new Date().toISOString().slice(0, 10));
    console.log(`The version is now ${version}. Read ${CHANGELOG}, then run:

  git commit -am "chore: release ${version}"
  git tag v${version}
  git push origin main v${version}`);
  } catch (error) {
    console.error(`the version was not changed: ${messageOf(error)}`);
    process.exit(1);
  }
}
