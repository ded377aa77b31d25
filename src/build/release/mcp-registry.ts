import { join } from "node:path";
import { hashFile } from "../../native/asset.ts";
import { TARGET_NAMES } from "../../native/targets.ts";
import { bundleName } from "./mcpb.ts";
import { downloadUrl, imageName, mcpName, type Release } from "./release-info.ts";

/** The newest format of the registry, of December 2025. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/** The registry allows 100 characters. */
const DESCRIPTION =
  "A private long-term memory for AI agents, on your own machine, searched by meaning";

/**
 * Writes `server.json`, which lists the packages for the MCP registry
 * (https://modelcontextprotocol.io/registry/package-types). It includes the bundles in the release's folder.
 */
export async function make(release: Release): Promise<string[]> {
  const path = join(release.out, "server.json");
  const server = {
    $schema: SCHEMA,
    name: mcpName(release),
    title: "ctxd memory",
    description: DESCRIPTION,
    version: release.version,
    repository: { url: release.repository, source: "github" },
    websiteUrl: `${release.repository}#readme`,
    packages: [ofNpm(release), ofImage(release), ...(await bundlesIn(release))],
  };
  await Bun.write(path, `${JSON.stringify(server, null, 2)}\n`);
  return [path];
}

function ofNpm({ version }: Release) {
  return {
    registryType: "npm",
    identifier: "ctxd",
    version,
    runtimeHint: "npx",
    transport: { type: "stdio" },
    packageArguments: [{ type: "positional", value: "mcp" }],
    environmentVariables: [
      {
        name: "CTXD_DATA_DIR",
        description: "The folder of the memories, instead of the default one",
        format: "filepath",
      },
    ],
  };
}

function ofImage(release: Release) {
  return {
    registryType: "oci",
    identifier: imageName(release),
    runtimeHint: "docker",
    transport: { type: "stdio" },
    runtimeArguments: [{ type: "named", name: "--volume", value: "ctxd-data:/data" }],
    packageArguments: [{ type: "positional", value: "mcp" }],
  };
}

async function bundlesIn(release: Release) {
  const bundles = [];
  for (const target of TARGET_NAMES) {
    const file = bundleName(target);
    const path = join(release.out, file);
    if (!(await Bun.file(path).exists())) continue;
    bundles.push({
      registryType: "mcpb",
      identifier: downloadUrl(release, file),
      fileSha256: await hashFile(path),
      transport: { type: "stdio" },
    });
  }
  return bundles;
}
