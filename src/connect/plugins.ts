import { type Client, HOOK_KINDS, type HookKind, type Plugin, unlessDamaged } from "./client.ts";
import { locate, readConfiguration, type Surroundings } from "./files.ts";
import { TIMEOUT_SECONDS } from "./hooks.ts";
import common from "./hosts/common.plugin.js" with { type: "text" };
import openclaw from "./hosts/openclaw.plugin.js" with { type: "text" };
import opencode from "./hosts/opencode.plugin.js" with { type: "text" };
import pi from "./hosts/pi.plugin.js" with { type: "text" };
import { jsonFormat, removeJson, writeJson } from "./json.ts";

/** Message for a person who would otherwise set up the same tools and hooks twice. */
export const HAS_PLUGIN =
  "Claude Code has the plugin ctxd, with the same tools and hooks: /plugin there changes what it does, and claude plugin uninstall ctxd removes it.";

/**
 * Whether a client has an enabled plugin ctxd from any marketplace (`enabledPlugins` in
 * https://code.claude.com/docs/en/settings). False for damaged settings.
 */
export function hasPlugin({ id, hooks }: Client, around: Surroundings): boolean {
  if (id !== "claude-code" || !hooks) return false;
  return unlessDamaged(() => {
    const settings = jsonFormat.read(readConfiguration(locate(hooks, around)).text);
    const plugins: object = Object(Object(settings).enabledPlugins);
    return Object.entries(plugins).some(
      ([name, isOn]) => name.startsWith("ctxd@") && isOn === true,
    );
  }, false);
}

/** The beginning of a plugin that ctxd wrote. */
const MARK = "// Written by ctxd connect ";

/** Whether ctxd wrote a plugin. */
export function isOwnPlugin(text: string): boolean {
  return text.startsWith(MARK);
}

/** The kinds of hooks in a plugin that ctxd wrote. */
export function kindsInPlugin(text: string): HookKind[] {
  const [, list = ""] = /^const KINDS = \[(.*)\];$/m.exec(text) ?? [];
  return HOOK_KINDS.filter((kind) => list.includes(kind));
}

/** Whether the client's own file, in JSON, has what ctxd wrote there to load a plugin. */
export function hasPluginSetting({ setting }: Plugin, text: string): boolean {
  return setting !== undefined && Bun.deepEquals(settingAt(setting.path, text), setting.value);
}

/**
 * Sets what the client's own file needs to load a plugin, or removes it. What is not ctxd's stays.
 * @param former the text before ctxd changed it; empty for a new file
 */
export function writePluginSetting(
  plugin: Plugin,
  text: string,
  isWanted: boolean,
  former = "",
): string {
  const { setting } = plugin;
  if (!setting) return text;
  const { path, value } = setting;
  if (isWanted) return settingAt(path, text) === null ? writeJson(text, path, value) : text;
  return hasPluginSetting(plugin, text) ? removeJson(text, path, former) : text;
}

function settingAt(path: readonly string[], text: string): unknown {
  return path.reduce<unknown>((at, key) => Object(at)[key], jsonFormat.read(text)) ?? null;
}

/**
 * Renders a plugin that runs the hook commands, for a client whose settings have no hooks.
 * @param program the words that start ctxd
 * @param options the words after the kind of hook
 */
export function renderPlugin(
  { id, plugin }: Client,
  { program, options }: { program: readonly string[]; options: readonly string[] },
  kinds: readonly HookKind[],
): string {
  return `${MARK}${id}; ctxd connect ${id} --remove takes it away.
import { spawn } from "node:child_process";

const COMMAND = ${JSON.stringify(program)};
const KINDS = ${JSON.stringify(kinds)};
const OPTIONS = ${JSON.stringify(options)};
const PATIENCE = ${1_000 * TIMEOUT_SECONDS};

${common}
${HOSTS[plugin?.host ?? "opencode"]}`;
}

/** What a plugin does at the events of its host. */
const HOSTS: Readonly<Record<Plugin["host"], string>> = { opencode, openclaw, pi };
