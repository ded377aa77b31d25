import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { Config } from "../config/config.ts";
import { AGENT_HEADER, HOOK_HEADER } from "../mcp/http-message.ts";
import { ownCommand } from "../server/invocation.ts";
import { fetchOnSocket } from "../system/local-socket.ts";
import { IN_BACKGROUND } from "../system/processes.ts";
import { type JsonObject, parseObject } from "../text/parse-json.ts";
import { withTimeLimit } from "../timing/time-limit.ts";
import type { Environment } from "./context.ts";
import { CommandError } from "./terminal.ts";

/** Options of every hook's command. */
export interface HookOptions {
  /** The agent whose hook runs it, as in `ctxd connect`. */
  agent?: string;
  project?: string;
  /** The address of a remote server. The command parses it itself, because an agent takes an error for a refusal. */
  url?: string;
  /** The hook runs only if this environment variable is `true`. A plugin passes its settings by such variables. */
  if?: string;
  /** Whether it runs in the background, where it has time to start a server. */
  later?: boolean;
}

/**
 * Adds the last options of a hook's command. It accepts unknown ones too: an agent takes an error for a refusal, and
 * its settings may have been written by another version of ctxd.
 */
export function addHookOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "a remote server, whose key ctxd connect has kept (default: the memory on this machine)",
    )
    .option("--if <variable>", "do nothing unless this environment variable is true")
    .addOption(new Option("--later").hideHelp())
    .allowUnknownOption()
    .allowExcessArguments();
}

/** Whether a hook is switched off by its option `--if`. */
export function isOff({ if: variable }: HookOptions, env: Environment): boolean {
  return variable !== undefined && env[variable] !== "true";
}

/** How the hooks of some agents answer. Others do as those of Claude Code. */
const ANSWERS: Readonly<Record<string, (text: string) => string>> = {
  cursor: (text) => JSON.stringify({ additional_context: text }),
  "copilot-cli": (text) => JSON.stringify({ additionalContext: text }),
  kimi: (text) => text,
};

/**
 * Formats the output by which a hook adds a text to the conversation, in the format of its agent; see
 * `readHookEvent`. An empty text gives an empty output.
 */
export function answerOf({ name }: Pick<HookEvent, "name">, text: string, agent = ""): string {
  if (text === "" || name === null) return text;
  const answer = ANSWERS[agent];
  if (answer) return answer(text);
  const hookSpecificOutput = { hookEventName: name, additionalContext: text };
  return JSON.stringify({ hookSpecificOutput });
}

/** Milliseconds to wait for a hook's input: agents write it immediately. */
const INPUT_TIMEOUT_MS = 1_000;
const MAX_INPUT_BYTES = 16 << 20;

/** Reads the JSON object that an agent writes to a hook's standard input; null without one, or at a terminal. */
export async function readHookInput(): Promise<JsonObject | null> {
  if (process.stdin.isTTY) return null;
  const reader = Bun.stdin.stream().getReader();
  // A script that runs the command may leave its input open forever.
  const timer = setTimeout(() => void reader.cancel(), INPUT_TIMEOUT_MS);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= MAX_INPUT_BYTES) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    chunks.push(value);
  }
  clearTimeout(timer);
  return parseObject(Buffer.concat(chunks).toString());
}

/** A turn of a conversation, in the form of the API. */
interface Turn {
  role: "user" | "assistant";
  content: string;
  id?: string;
  at?: string;
}

/** A resumed conversation still has its context; these do not. Copilot calls the first of them new. */
const FRESH = new Set(["startup", "new", "clear", "compact"]);

/**
 * Reads the event that a hook receives on standard input, as the agents document it:
 * Claude Code https://code.claude.com/docs/en/hooks, Codex https://developers.openai.com/codex/hooks,
 * Gemini CLI https://geminicli.com/docs/hooks/reference, Cursor https://cursor.com/docs/agent/hooks; as
 * Qwen Code, Droid, Copilot CLI and Kimi Code send it; and what our plugins send (`connect/hosts/`).
 */
export function readHookEvent(input: JsonObject) {
  const [workspace] = Array.isArray(input.workspace_roots) ? input.workspace_roots : [];
  const source = textOf(input.source);
  const turns: Turn[] = Array.isArray(input.turns)
    ? input.turns.filter(isTurn)
    : turnsOfCursor(input);
  return {
    /** The event's name; null if the agent sends none. */
    name: textOf(input.hook_event_name),
    session: textOf(input.session_id) ?? textOf(input.conversation_id),
    /** The folder that the agent works in. */
    folder: textOf(input.cwd) ?? textOf(workspace),
    /** The user's prompt; null for other events. Empty at Qwen Code's event after each call of a tool. */
    prompt: promptIn(input),
    /** Whether the conversation is new or was compacted, so that earlier context is gone. */
    isFresh: source !== null && FRESH.has(source),
    /** The file that the agent writes the conversation to. */
    transcript: textOf(input.transcript_path),
    /** The turns that the event itself contains. */
    turns,
  };
}
export type HookEvent = ReturnType<typeof readHookEvent>;

/** A prompt is a text, or a list of parts with texts. */
function promptIn({ prompt }: JsonObject): string | null {
  if (!Array.isArray(prompt)) return typeof prompt === "string" ? prompt : null;
  return prompt.flatMap((part) => textOf(Object(part).text) ?? []).join("\n");
}

/** Cursor sends each turn as an event; its transcripts have no times. */
function turnsOfCursor({ hook_event_name: name, generation_id, prompt, text }: JsonObject) {
  const generation = textOf(generation_id);
  const turn = (role: Turn["role"], value: unknown): Turn[] => {
    const content = textOf(value);
    if (content === null || content.trim() === "") return [];
    const id = JSON.stringify([generation, role, Bun.hash(content).toString(36)]);
    return [{ role, content, ...(generation !== null && { id }) }];
  };
  if (name === "beforeSubmitPrompt") return turn("user", prompt);
  return name === "afterAgentResponse" ? turn("assistant", text) : [];
}

function isTurn(value: unknown): value is Turn {
  const { role, content } = Object(value);
  return (role === "user" || role === "assistant") && textOf(content)?.trim() !== undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Milliseconds that an agent waits for a busy server. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Paths of the endpoints that hooks call. */
export const CAPTURE = "/api/memories/capture";
export const RECALL = "/api/memories/recall";
/** One of them, which may have a query. */
export type HookPath = typeof CAPTURE | typeof RECALL | `${typeof RECALL}?${string}`;

/** The body of a request to recall. */
export interface RecallBody {
  readonly folder?: string;
  readonly project?: string;
  readonly [name: string]: unknown;
}

/** The agent whose hook sends a request. */
interface Sender {
  agent?: string | undefined;
}

/**
 * Sends a hook's request to the server of the data folder, once: the agent waits for the hook.
 * @returns null when no server runs, or when it does not answer in time
 * @throws when the server refuses the request
 */
export async function sendFromHook(
  { dataDir }: Pick<Config, "dataDir">,
  path: HookPath,
  body: unknown,
  {
    signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    agent,
  }: { signal?: AbortSignal } & Sender = {},
): Promise<unknown> {
  const request = postJson(body, agent);
  const headers = { ...request.headers, [HOOK_HEADER]: "1" };
  let response: Response;
  try {
    response = await fetchOnSocket(dataDir, path, { ...request, headers, signal });
  } catch {
    return null;
  }
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return response.json();
}

/**
 * Milliseconds that an agent waits for a server that starts. On a busy machine a shorter wait would be in vain.
 */
const START_TIMEOUT_MS = 3_000;

/** Sends a hook's request as `sendFromHook` does, but starts a server if none runs, and waits for it. */
export async function sendWhenServed(
  config: Config,
  env: Environment,
  path: HookPath,
  body: unknown,
  { agent }: Sender = {},
): Promise<unknown> {
  const sending = { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS), agent };
  const answer = await sendFromHook(config, path, body, sending);
  if (answer !== null || sending.signal.aborted) return answer;
  const { reachOwnServer } = await import("./server/own-server.ts");
  const server = reachOwnServer(config, env, { isAgent: true });
  try {
    await withTimeLimit(server.connect(), START_TIMEOUT_MS, () => {});
    return await sendFromHook(config, path, body, sending);
  } finally {
    server.close();
  }
}

/** @throws CommandError if the data folder has lost its memories: a command of an agent must not begin anew there */
export async function refuseLoss(config: Config, env: Environment): Promise<void> {
  const { describeLoss } = await import("./server/known-folders.ts");
  const loss = describeLoss(config, env);
  if (loss !== null) throw new CommandError(loss);
}

/** Makes an API request from a JSON body. @param agent the agent whose activity it is */
export function postJson(body: unknown, agent?: string) {
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(agent && { [AGENT_HEADER]: encodeURIComponent(agent.toWellFormed()) }),
    },
    body: JSON.stringify(body),
  };
}

/**
 * Repeats the request in a separate process, which waits until a server has started and goes on when this
 * one ends.
 */
export async function sendLater(
  config: Config,
  words: readonly string[],
  env: Environment,
  body: unknown,
): Promise<void> {
  const { dataDir } = config;
  (await import("../db/data-lock.ts")).createDataFolder(dataDir);
  const file = join(dataDir, `.hook-${crypto.randomUUID()}`);
  try {
    writeFileSync(file, JSON.stringify(body), { mode: 0o600 });
    const input = openSync(file, "r");
    try {
      runLater(config, words, env, input);
    } finally {
      closeSync(input);
    }
  } finally {
    // The new process has the file open and can still read it.
    rmSync(file, { force: true });
  }
}

/** Runs a command with `--later` in a separate process, which goes on when this one ends. */
export function runLater(
  { dataDir, cacheDir }: Config,
  words: readonly string[],
  env: Environment,
  input: number | "ignore" = "ignore",
): void {
  Bun.spawn([...ownCommand, ...words, "--later", "--data-dir", dataDir], {
    stdin: input,
    stdout: "ignore",
    stderr: "ignore",
    ...IN_BACKGROUND,
    env: { ...env, CTXD_CACHE_DIR: cacheDir },
  }).unref();
}
