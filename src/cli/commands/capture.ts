import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { askAsHook, askLater, asRequest } from "../hooks/ask.ts";
import { readHookEvent } from "../hooks/event.ts";
import { acceptAnything, IF, LATER } from "../hooks/hook-options.ts";
import { readHookInput } from "../hooks/standard-input.ts";
import { isOff } from "../hooks/switch.ts";
import { isInteractive, say } from "../terminal.ts";

const CAPTURE = "/api/memories/capture";
/** The agent of a hook that names none. */
const AGENT = "agent";

const FOR_HOOKS =
  "An agent's hook runs this, and tells on standard input what was said: ctxd connect CLIENT --capture sets it up.";

/** What `ctxd capture` is given. */
interface CaptureOptions {
  agent?: string;
  project?: string;
  /** Days after which it is forgotten, or `forever`. */
  keep?: string;
  /** The environment variable that switches it on. */
  if?: string;
  /** Whether standard input has the request, and there is time to start a server. */
  later?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  acceptAnything(program.command("capture"))
    .summary("save what was said in an agent's conversation: what its hooks run")
    .description(
      "An agent's hook runs this at the end of a turn, before a conversation is compacted and at its end; ctxd connect CLIENT --capture sets it up. What you said and what the agent answered is saved, if it is new: with project, session and time, without what tools put out, secrets masked, and for 90 days. The exit code is 0 whatever happens, so that no agent fails by it.",
    )
    .option("--agent <name>", "the agent whose hook runs it (agent_id)")
    .option("--project <name>", "the project; by default that of the folder")
    .option("--keep <days>", "days after which it is forgotten, or forever (90)")
    .addOption(IF)
    .addOption(LATER)
    .addHelpText("after", examples("ctxd connect claude-code --capture", "ctxd capture --help"))
    .action((options: CaptureOptions) => capture(configure, options, env));
}

/**
 * `ctxd capture`: has the server save what is new in the conversation of which an agent's hook tells. An
 * agent must not fail by it: what went wrong is said, and nothing else happens.
 */
async function capture(
  configure: () => Config,
  options: CaptureOptions,
  env: Environment,
): Promise<void> {
  const input = await readHookInput();
  if (isOff(options.if, env)) return;
  if (!input && isInteractive()) throw new CommandError(FOR_HOOKS, USAGE);
  try {
    if (!input) throw new CommandError(FOR_HOOKS);
    const config = configure();
    if (options.later) return await captureLater(config, env, input);
    const { session, folder, transcript, turns } = readHookEvent(input);
    if (turns.length === 0 && transcript === null) return;
    const body = {
      agent: options.agent ?? AGENT,
      ...(session !== null && { session_id: session }),
      ...(folder !== null && { folder }),
      ...(options.project !== undefined && { project: options.project }),
      ...(options.keep !== undefined && { kept_days: daysOf(options.keep) }),
      ...(turns.length > 0 ? { turns } : { transcript }),
    };
    // Without a server, one is started; the agent does not wait for it.
    if ((await askAsHook(config, CAPTURE, body)) === null) {
      askLater(config, ["capture"], env, body);
    }
  } catch (error) {
    say(`ctxd: nothing was captured: ${messageOf(error)}`);
  }
}

async function captureLater(config: Config, env: Environment, body: unknown): Promise<void> {
  const { openApi } = await import("../api.ts");
  using api = await openApi(config, env, {});
  await api.request(CAPTURE, asRequest(body));
}

function daysOf(text: string): number | null {
  if (text === "forever") return null;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new CommandError("--keep takes a number of days, or forever.", USAGE);
}
