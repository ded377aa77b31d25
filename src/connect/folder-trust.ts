import { realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Client, unlessDamaged } from "./client.ts";
import { findClient } from "./clients.ts";
import { readEntry } from "./entry.ts";
import { locate, readConfiguration, type Surroundings } from "./files.ts";
import { jsonFormat } from "./json.ts";

/**
 * Says that Gemini CLI starts no MCP servers in a folder, because it does not trust it; null for a trusted
 * folder, for other clients, and while ctxd is not in its settings.
 */
export function distrustOf(client: Client, folder: string, around: Surroundings): string | null {
  if (client.id !== "gemini") return null;
  const isConnected = unlessDamaged(
    () => readEntry(client, readConfiguration(locate(client, around)).text) !== null,
    false,
  );
  if (!isConnected || isTrusted(client, folder, around)) return null;
  return `Gemini CLI starts no MCP servers in ${folder}, because it does not trust that folder: start gemini there and trust it.`;
}

/** The same for Gemini CLI, wherever it is connected. */
export function distrustOfGemini(folder: string, around: Surroundings): string | null {
  const gemini = findClient("gemini");
  return gemini && distrustOf(gemini, folder, around);
}

/**
 * As `checkPathTrust` and `isPathTrusted` in packages/core/src/utils/trust.ts of version 0.61 of
 * https://github.com/google-gemini/gemini-cli decide, except for editors that it runs in.
 */
function isTrusted(client: Client, folder: string, around: Surroundings): boolean {
  const { GEMINI_RESTRICTED_MODE, GEMINI_CLI_TRUST_WORKSPACE, GEMINI_CLI_TRUSTED_FOLDERS_PATH } =
    around.env;
  if (GEMINI_RESTRICTED_MODE === "true" || GEMINI_CLI_TRUST_WORKSPACE === "false") return false;
  if (GEMINI_CLI_TRUST_WORKSPACE === "true") return true;
  const settings = locate(client, around);
  const { folderTrust } = Object(Object(readObject(settings)).security);
  if (Object(folderTrust).enabled === false) return true;
  const rules = GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(dirname(settings), "trustedFolders.json");
  const place = realPathOf(folder);
  const [, level] = Object.entries(readObject(rules))
    .filter(([path, rule]) =>
      isWithin(realPathOf(rule === "TRUST_PARENT" ? dirname(path) : path), place),
    )
    .reduce((longest, rule) => (rule[0].length > longest[0].length ? rule : longest), ["", null]);
  return level === "TRUST_FOLDER" || level === "TRUST_PARENT";
}

function readObject(path: string): Record<string, unknown> {
  return unlessDamaged(() => Object(jsonFormat.read(readConfiguration(path).text)), {});
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || !/^(\.\.([\\/]|$)|[\\/]|[A-Za-z]:)/.test(way);
}
