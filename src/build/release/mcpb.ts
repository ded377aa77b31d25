import { join } from "node:path";
import { description, license } from "../../../package.json" with { type: "json" };
import { TARGET_NAMES, TARGETS, type TargetName } from "../../native/targets.ts";
import { ownerOf, type Release } from "./release-info.ts";
import { writeZip } from "./zip.ts";

/**
 * The version of the manifest's format, the newest that is not a draft:
 * https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
 */
const MANIFEST_VERSION = "0.3";

const ROOT = join(import.meta.dir, "..", "..", "..");

const ABOUT = `A long-term memory that your agents share, stored on this computer and searched by meaning. It needs no account, no key and no network. Claude Code, Cursor and other agents with ctxd also know what Claude saves here.`;

/** Descriptions of the tools, shown before the server runs. A test compares their names with the server's. */
const TOOLS = {
  recall_context: "Recall what matters for the conversation",
  search_memories: "Find memories by meaning",
  list_memories: "Browse memories, newest first",
  get_memory: "Read one memory and its earlier versions",
  save_memory: "Save a fact for later conversations",
  update_memory: "Correct a memory",
  delete_memory: "Delete memories permanently",
};

/** File name of a target's bundle, which Claude Desktop and other programs install as a local MCP server. */
export function bundleName(target: TargetName): string {
  return `ctxd-${target}.mcpb`;
}

/** Writes a bundle for each executable: a ZIP archive with the executable and a manifest. */
export async function make(release: Release): Promise<string[]> {
  const written: string[] = [];
  for (const target of TARGET_NAMES) {
    const executable = release.executables[target];
    if (executable === undefined) continue;
    const path = join(release.out, bundleName(target));
    await writeZip(path, [
      { name: "manifest.json", text: `${JSON.stringify(manifest(release, target), null, 2)}\n` },
      { name: programIn(target), path: executable, isExecutable: true },
      ...["LICENSE", "NOTICE"].map((name) => ({ name, path: join(ROOT, name) })),
    ]);
    written.push(path);
  }
  return written;
}

function programIn(target: TargetName): string {
  return `server/ctxd${TARGETS[target].os === "win32" ? ".exe" : ""}`;
}

function manifest(release: Release, target: TargetName) {
  const { version, repository } = release;
  const program = programIn(target);
  return {
    manifest_version: MANIFEST_VERSION,
    name: "ctxd",
    display_name: "ctxd memory",
    version,
    description,
    long_description: ABOUT,
    author: { name: ownerOf(release) },
    repository: { type: "git", url: repository },
    homepage: repository,
    documentation: `${repository}#readme`,
    support: `${repository}/issues`,
    license,
    keywords: ["memory", "long-term memory", "recall", "local"],
    server: {
      type: "binary",
      entry_point: program,
      mcp_config: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the installing program replaces it
        command: "${__dirname}/".concat(program),
        args: ["mcp", "--agent", "claude-desktop"],
        env: { CTXD_INSTALLED_BY: "mcpb" },
      },
    },
    tools: Object.entries(TOOLS).map(([name, text]) => ({ name, description: text })),
    // A prompt in the manifest would be a fixed text; ours depends on the memories.
    prompts_generated: true,
    compatibility: { platforms: [TARGETS[target].os] },
  };
}
