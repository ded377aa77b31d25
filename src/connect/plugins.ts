import { type Client, type HookKind, unlessDamaged } from "./client.ts";
import { locate, readConfiguration, type Surroundings } from "./files.ts";
import { jsonFormat } from "./json.ts";

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

/** First line of a plugin that ctxd wrote. */
const MARK = "// Written by ctxd connect opencode; ctxd connect opencode --remove takes it away.";

/** Whether ctxd wrote a plugin. */
export function isOwnPlugin(text: string): boolean {
  return text.startsWith(MARK);
}

/** The kinds of hooks in a plugin that ctxd wrote. */
export function kindsInPlugin(text: string): HookKind[] {
  const [, list = ""] = /^const KINDS = \[(.*)\];$/m.exec(text) ?? [];
  return (["recall", "capture"] as const).filter((kind) => list.includes(kind));
}

/**
 * Renders a plugin that runs the hook commands, because OpenCode's settings have no hooks.
 * @param command the words that start ctxd
 * @param options those of the hook commands
 */
export function renderPlugin(
  command: readonly string[],
  kinds: readonly HookKind[],
  options: readonly string[],
): string {
  return `${MARK}
import { spawn } from "node:child_process";

const COMMAND = ${JSON.stringify(command)};
const KINDS = ${JSON.stringify(kinds)};
const OPTIONS = ${JSON.stringify(options)};
const PATIENCE = 5000;

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

/** What was said since the person spoke last: the person's words, then all of the answer. */
const lastTurns = (messages) => {
  const from = messages.findLastIndex(({ info }) => info.role === "user");
  const said = (from < 0 ? [] : messages.slice(from)).map(({ info, parts }) => ({
    role: info.role,
    content: textOf(parts),
    id: info.id,
    at: new Date(info.time.created).toISOString(),
  }));
  const [asked, ...answers] = said;
  const content = answers.map((answer) => answer.content).filter(Boolean).join("\\n\\n");
  const turns = asked ? [asked, ...(content ? [{ ...answers[0], content }] : [])] : [];
  return turns.filter((turn) => turn.content);
};

export const ctxd = async ({ client, directory }) => {
  /** What each session was told. */
  const told = new Map();
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle" || !KINDS.includes("capture")) return;
      const id = event.properties.sessionID;
      const { data } = await client.session.messages({ path: { id } });
      const turns = lastTurns(data ?? []);
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
`;
}
