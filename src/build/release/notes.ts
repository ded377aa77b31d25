import { join } from "node:path";
import { readChangelog } from "../../text/changelog.ts";
import { CHECKSUMS } from "./checksums.ts";
import type { Release } from "./release-info.ts";

const CHANGELOG = join(import.meta.dir, "..", "..", "..", "CHANGELOG.md");

/** Writes the notes of the release on GitHub: the changes, and how to verify the files. */
export async function make(release: Release): Promise<string[]> {
  const path = join(release.out, "NOTES.md");
  await Bun.write(path, notesOf(release, await Bun.file(CHANGELOG).text()));
  return [path];
}

/**
 * The notes of a release.
 * @param changelog for a version without a heading its unreleased changes are used
 * @throws Error when it has no changes of the version
 */
export function notesOf(release: Release, changelog: string): string {
  const sections = readChangelog(changelog);
  const section =
    sections.find(({ version }) => version === release.version) ??
    sections.find(({ version }) => version === null);
  if (!section?.text) throw new Error(`the changelog has no changes of ${release.version}`);
  return `${withAddresses(section.text, release)}\n\n${verification(release)}`;
}

/** Makes relative links point to the repository's files of this version. */
function withAddresses(markdown: string, { repository, version }: Release): string {
  return markdown.replace(/\]\((?!https?:|#)([^()]+)\)/g, `](${repository}/blob/v${version}/$1)`);
}

function verification({ repository, version }: Release): string {
  const { origin, pathname } = new URL(repository);
  const identity = `${repository}/.github/workflows/release.yml@refs/tags/v${version}`;
  const issuer = "https://token.actions.githubusercontent.com";
  const provenance =
    origin === "https://github.com"
      ? `gh attestation verify FILE --repo ${pathname.slice(1)}   # shows the commit that a file was built from\n`
      : "";
  return `## Verify your download

\`\`\`sh
sha256sum --check --ignore-missing ${CHECKSUMS}
cosign verify-blob --bundle ${CHECKSUMS}.sigstore.json \\
  --certificate-identity ${identity} \\
  --certificate-oidc-issuer ${issuer} ${CHECKSUMS}
${provenance}\`\`\`

\`sbom.cdx.json\` lists all components of the executables.
`;
}
