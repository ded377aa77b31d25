import { join } from "node:path";
import { readChangelog } from "../changelog.ts";
import { CHECKSUMS } from "../upgrade/checksums.ts";
import type { Release } from "./release-info.ts";

const CHANGELOG = join(import.meta.dir, "..", "..", "CHANGELOG.md");

/** Writes what GitHub shows with a release: what is new in it, and how its files are checked. */
export async function make(release: Release): Promise<string[]> {
  const path = join(release.out, "NOTES.md");
  await Bun.write(path, notesOf(release, await Bun.file(CHANGELOG).text()));
  return [path];
}

/**
 * The notes of a release.
 * @param changelog of which a version that has no heading yet gets what is unreleased
 * @throws Error when it says nothing of the version
 */
export function notesOf(release: Release, changelog: string): string {
  const sections = readChangelog(changelog);
  const section =
    sections.find(({ version }) => version === release.version) ??
    sections.find(({ version }) => version === null);
  if (!section?.text) throw new Error(`the changelog says nothing of ${release.version}`);
  return `${withAddresses(section.text, release)}\n\n${howToCheck(release)}`;
}

/** Links to files of the repository lead to them as they are in this version. */
function withAddresses(markdown: string, { repository, version }: Release): string {
  return markdown.replace(/\]\((?!https?:|#)([^)]+)\)/g, `](${repository}/blob/v${version}/$1)`);
}

function howToCheck({ repository, version }: Release): string {
  const { origin, pathname } = new URL(repository);
  const identity = `${repository}/.github/workflows/release.yml@refs/tags/v${version}`;
  const issuer = "https://token.actions.githubusercontent.com";
  const provenance =
    origin === "https://github.com"
      ? `gh attestation verify FILE --repo ${pathname.slice(1)}   # which commit a file was built of\n`
      : "";
  return `## Check what you have downloaded

\`\`\`sh
sha256sum --check --ignore-missing ${CHECKSUMS}
cosign verify-blob --bundle ${CHECKSUMS}.sigstore.json \\
  --certificate-identity ${identity} \\
  --certificate-oidc-issuer ${issuer} ${CHECKSUMS}
${provenance}\`\`\`

\`sbom.cdx.json\` lists all that the executables are made of.
`;
}
