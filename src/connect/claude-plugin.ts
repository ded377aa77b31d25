import type { Client } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import { locate, readConfiguration, type Surroundings } from "./files.ts";
import { findHookAgent } from "./hook-agents.ts";
import { jsonFormat } from "./json.ts";

/** Message for a person who would otherwise set up the same tools and hooks twice. */
export const HAS_PLUGIN =
  "Claude Code has the plugin ctxd, with the same tools and hooks: /plugin there changes what it does, and claude plugin uninstall ctxd removes it.";

/**
 * Whether a client has an enabled plugin ctxd from any marketplace (`enabledPlugins` in
 * https://code.claude.com/docs/en/settings). False for damaged settings.
 */
export function hasPlugin(client: Pick<Client, "id">, around: Surroundings): boolean {
  const agent = findHookAgent(client.id);
  if (client.id !== "claude-code" || !agent) return false;
  try {
    const settings = jsonFormat.read(readConfiguration(locate(agent.settings, around)).text);
    const plugins: object = Object(Object(settings).enabledPlugins);
    return Object.entries(plugins).some(
      ([name, isOn]) => name.startsWith("ctxd@") && isOn === true,
    );
  } catch (error) {
    if (error instanceof ConnectError) return false;
    throw error;
  }
}
