import { type Client, type HookKind, type Plugin, unlessDamaged } from "./client.ts";
import { locate, readConfiguration, type Surroundings } from "./files.ts";
import { TIMEOUT_SECONDS } from "./hooks.ts";
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
  return (["recall", "capture"] as const).filter((kind) => list.includes(kind));
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

/** What a command of ctxd prints for an event; empty when it fails, which is no reason to stop. */
const run = (kind, event) =>
  new Promise((resolve) => {
    const [program, ...words] = COMMAND;
    const child = spawn(program, [...words, kind, ...OPTIONS], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: PATIENCE,
    });
    let text = "";
    child.stdout.on("data", (bytes) => (text += bytes));
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(text.trim()));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });

const textOf = (parts) =>
  parts
    .filter(({ type, synthetic, ignored }) => type === "text" && !synthetic && !ignored)
    .map(({ text }) => text)
    .join("\\n")
    .trim();

/** The messages of a model as what was said. */
const saidIn = (messages) =>
  messages.map(({ role, content, timestamp }) => ({
    role,
    content: typeof content === "string" ? content.trim() : textOf(content ?? []),
    ...(timestamp && { at: new Date(timestamp).toISOString() }),
  }));

/** What was said since the person spoke last: the person's words, then all of the answer. */
const lastTurns = (said) => {
  const from = said.findLastIndex(({ role }) => role === "user");
  const [asked, ...others] = from < 0 ? [] : said.slice(from);
  const answers = others.filter(({ role, content }) => role === "assistant" && content);
  const content = answers.map((answer) => answer.content).join("\\n\\n");
  const turns = asked ? [asked, ...(content ? [{ ...answers[0], content }] : [])] : [];
  return turns.filter((turn) => turn.content);
};

${HOSTS[plugin?.host ?? "opencode"]}`;
}

/** What a plugin does at the events of its host. */
const HOSTS: Readonly<Record<Plugin["host"], string>> = {
  opencode: `export const ctxd = async ({ client, directory }) => {
  /** What each session was told. */
  const told = new Map();
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle" || !KINDS.includes("capture")) return;
      const id = event.properties.sessionID;
      const { data } = await client.session.messages({ path: { id } });
      const said = (data ?? []).map(({ info, parts }) => ({
        role: info.role,
        content: textOf(parts),
        id: info.id,
        at: new Date(info.time.created).toISOString(),
      }));
      const turns = lastTurns(said);
      if (turns.length > 0) await run("capture", { session_id: id, cwd: directory, turns });
    },

    "chat.message": async ({ sessionID }, { parts }) => {
      if (!KINDS.includes("recall")) return;
      const prompt = textOf(parts);
      const text = await run("recall", { session_id: sessionID, cwd: directory, prompt });
      if (text) told.set(sessionID, [...(told.get(sessionID) ?? []), text]);
    },

    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      output.system.push(...(told.get(sessionID) ?? []));
    },
  };
};
`,
  openclaw: `export default {
  id: "ctxd",
  name: "ctxd",
  register(api) {
    const place = ({ sessionId, workspaceDir }) => ({ session_id: sessionId, cwd: workspaceDir });

    if (KINDS.includes("recall")) {
      api.on("before_prompt_build", async ({ prompt, currentUserMessage }, context) => {
        const asked = currentUserMessage ?? prompt;
        const text = asked && (await run("recall", { ...place(context), prompt: asked }));
        return text ? { prependContext: text } : undefined;
      });
    }

    if (KINDS.includes("capture")) {
      api.on("agent_end", async ({ messages }, context) => {
        const turns = lastTurns(saidIn(messages));
        if (turns.length > 0) await run("capture", { ...place(context), turns });
      });
    }
  },
};
`,
  pi: `export default (pi) => {
  const place = ({ cwd, sessionManager }) => ({ session_id: sessionManager.getSessionId(), cwd });

  pi.on("before_agent_start", async ({ prompt }, context) => {
    if (!prompt || !KINDS.includes("recall")) return;
    const content = await run("recall", { ...place(context), prompt });
    if (content) return { message: { customType: "ctxd", content, display: false } };
  });

  pi.on("agent_end", async ({ messages }, context) => {
    if (!KINDS.includes("capture")) return;
    const turns = lastTurns(saidIn(messages));
    if (turns.length > 0) await run("capture", { ...place(context), turns });
  });
};
`,
};
