import type { Command } from "commander";
import type { CaptureRequest } from "../../capture/requests.ts";
import type { Config } from "../../config/config.ts";
import { messageOf } from "../../errors.ts";
import { homeFolder } from "../../system/folders.ts";
import type { JsonObject } from "../../text/parse-json.ts";
import { type Context, type Environment, examples } from "../context.ts";
import {
  addHookOptions,
  CAPTURE,
  type HookOptions,
  isOff,
  postJson,
  readHookEvent,
  readHookInput,
  refuseLoss,
  sendFromHook,
  sendLater,
} from "../hooks.ts";
import { CommandError, isInteractive, say, usageError } from "../terminal.ts";

/** The agent's name if the hook passes none. */
const DEFAULT_AGENT = "agent";

const FOR_HOOKS =
  "this command is for an agent's hook, which passes the conversation on standard input. ctxd connect AGENT --capture sets it up.";

/**
 * With `later`, standard input is a request of `sendLater`, which may wait for a server to start. With `url` too, what
 * is kept for that server is sent.
 */
interface CaptureOptions extends HookOptions {
  /** Days until captured turns expire, or `forever`. */
  keep?: string;
}

export function define(program: Command, { configure, env }: Context): void {
  const command = program
    .command("capture")
    .summary("save the turns of an agent's conversation (run by its hooks)")
    .description(
      "An agent's hook runs this after each turn, before a conversation is compacted, and at its end; ctxd connect AGENT --capture sets it up. It saves what you said and what the agent answered, if that is new, for 90 days: with project, session and time, with secrets masked, and without the output of tools. The exit code is always 0, so that a failure never stops the agent.",
    )
    .option("--agent <name>", "the agent whose hook runs it (agent_id)")
    .option("--project <name>", "the project (default: the folder's)")
    .option("--keep <days>", "days until it expires, or forever (90)");
  addHookOptions(command)
    .addHelpText("after", examples("ctxd connect claude-code --capture", "ctxd capture --help"))
    .action((options: CaptureOptions) => capture(configure, options, env));
}

/**
 * `ctxd capture`: sends an agent's conversation to the server, which saves its new turns. A failure is
 * printed and never fails the agent.
 */
async function capture(configure: () => Config, options: CaptureOptions, env: Environment) {
  const input = await readHookInput();
  if (isOff(options, env)) return;
  if (!input && isInteractive()) throw usageError(FOR_HOOKS);
  try {
    const config = configure();
    if (options.url !== undefined) return await captureRemotely(config, options, input, env);
    if (!input) throw new CommandError(FOR_HOOKS);
    if (options.later) return await captureLater(config, env, input);
    const body = await bodyOf(input, options, env);
    if (body === null) return;
    // If no server runs, a separate process starts one. The agent does not wait for it.
    if ((await sendFromHook(config, CAPTURE, body)) === null) {
      await refuseLoss(config, env);
      await sendLater(config, ["capture"], env, body);
    }
  } catch (error) {
    say(`ctxd: nothing was captured: ${messageOf(error)}`);
  }
}

/** Keeps what was said for a remote server, or sends it what is kept. */
async function captureRemotely(
  config: Config,
  options: CaptureOptions,
  input: JsonObject | null,
  env: Environment,
): Promise<void> {
  const remote = await import("../server/remote-hooks.ts");
  const url = remote.parseServer(options.url ?? "");
  if (options.later) return remote.sendKept(config, url);
  if (!input) throw new CommandError(FOR_HOOKS);
  const body = await bodyOf(input, options, env);
  if (body !== null) await remote.captureRemotely(config, url, body, env);
}

/** The request that captures what was said; null when nothing was. */
async function bodyOf(
  input: JsonObject,
  options: CaptureOptions,
  env: Environment,
): Promise<CaptureRequest | null> {
  const { session, folder, transcript: named, turns } = readHookEvent(input);
  const transcript =
    named ?? (options.agent === "kimi" ? await transcriptOfKimi(session, env) : null);
  const said = turns.length > 0 ? { turns } : transcript && { transcript };
  if (!said) return null;
  return {
    agent: options.agent ?? DEFAULT_AGENT,
    ...(session !== null && { session_id: session }),
    ...(folder !== null && { folder }),
    ...(options.project !== undefined && { project: options.project }),
    ...(options.keep !== undefined && { kept_days: daysOf(options.keep) }),
    ...said,
  };
}

async function transcriptOfKimi(session: string | null, env: Environment): Promise<string | null> {
  if (session === null) return null;
  const { findKimiTranscript } = await import("../../import/transcripts/folders.ts");
  return findKimiTranscript(session, { env, home: homeFolder(env) ?? "" });
}

async function captureLater(config: Config, env: Environment, body: unknown): Promise<void> {
  const { openApi } = await import("../server/api.ts");
  using api = await openApi(config, env, {});
  await api.request(CAPTURE, postJson(body));
}

function daysOf(text: string): number | null {
  if (text === "forever") return null;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError("--keep takes a number of days, or the word forever.");
}
