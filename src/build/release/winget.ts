import { join } from "node:path";
import { stringify } from "yaml";
import { description, license, name } from "../../../package.json" with { type: "json" };
import { hashFile } from "../../native/asset.ts";
import { executableName } from "../../native/targets.ts";
import { downloadUrl, ownerOf, type Release } from "./release-info.ts";

/** The version of the manifests' schema: https://github.com/microsoft/winget-cli, schemas/JSON/manifests. */
const SCHEMA = "1.12.0";
const TARGET = "windows-x64";

/**
 * Writes the three manifests of a version for the winget repository, to the folder `winget`. They install the
 * executable and the Visual C++ runtime, which its libraries need.
 */
export async function make(release: Release): Promise<string[]> {
  const path = release.executables[TARGET];
  if (path === undefined) throw new Error(`winget needs the executable for ${TARGET}`);
  const { version, repository, out } = release;
  const owner = ownerOf(release);
  const identifier = `${owner}.${name}`;
  const manifests = {
    version: { DefaultLocale: "en-US" },
    installer: {
      InstallerType: "portable",
      Commands: [name],
      Dependencies: {
        PackageDependencies: [{ PackageIdentifier: "Microsoft.VCRedist.2015+.x64" }],
      },
      Installers: [
        {
          Architecture: "x64",
          InstallerUrl: downloadUrl(release, executableName(TARGET)),
          InstallerSha256: (await hashFile(path)).toUpperCase(),
        },
      ],
    },
    defaultLocale: {
      PackageLocale: "en-US",
      Publisher: owner,
      PublisherUrl: new URL(`/${owner}`, repository).href,
      PublisherSupportUrl: `${repository}/issues`,
      PackageName: name,
      PackageUrl: repository,
      License: license,
      LicenseUrl: `${repository}/blob/v${version}/LICENSE`,
      ShortDescription: description,
      Moniker: name,
      Tags: ["ai", "agent", "mcp", "memory"],
      ReleaseNotesUrl: `${repository}/releases/tag/v${version}`,
    },
  };
  const endings: Record<string, string> = {
    version: "",
    installer: ".installer",
    defaultLocale: ".locale.en-US",
  };
  const written: string[] = [];
  for (const [type, fields] of Object.entries(manifests)) {
    const file = `${identifier}${endings[type]}.yaml`;
    const manifest = {
      PackageIdentifier: identifier,
      PackageVersion: version,
      ...fields,
      ManifestType: type,
      ManifestVersion: SCHEMA,
    };
    const schema = `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.${SCHEMA}.schema.json`;
    written.push(join(out, "winget", file));
    await Bun.write(join(out, "winget", file), `${schema}\n\n${stringify(manifest)}`);
  }
  return written;
}
