import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { askAsHook, askLater, asRequest } from "./hooks/ask.ts";
import { readHookEvent } from "./hooks/event.ts";
import { readHookInput } from "./hooks/standard-input.ts";
import { isOff } from "./hooks/switch.ts";
import { isInteractive, say } from "./terminal.ts";

const CAPTURE = "/api/memories/capture";
/** The agent of a hook that names none. */
const AGENT = "agent";

const FOR_HOOKS =
  "An agent's hook runs this, and tells on standard input what was said: ctxd connect CLIENT --capture sets it up.";

/** What `ctxd capture` is given. */
export interface CaptureOptions {
  agent?: string;
  project?: string;
  /** Days after which it is forgotten, or `forever`. */
  keep?: string;
  /** The environment variable that switches it on. */
  if?: string;
  /** Whether standard input has the request, and there is time to start a server. */
  later?: boolean;
}

/**
 * `ctxd capture`: has the server save what is new in the conversation of which an agent's hook tells. An
 * agent must not fail by it: what went wrong is said, and nothing else happens.
 */
export async function capture(
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
  const { openApi } = await import("./api.ts");
  using api = await openApi(config, env, {});
  await api.request(CAPTURE, asRequest(body));
}

function daysOf(text: string): number | null {
  if (text === "forever") return null;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new CommandError("--keep takes a number of days, or forever.", USAGE);
}
