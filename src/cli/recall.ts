import { RECALL_CHARACTERS } from "../capture/recall-limits.ts";
import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { answerOf } from "./hooks/answer.ts";
import { askAsHook, askLater, asRequest } from "./hooks/ask.ts";
import { type HookEvent, readHookEvent } from "./hooks/event.ts";
import { readHookInput } from "./hooks/standard-input.ts";
import { isOff } from "./hooks/switch.ts";
import { printable } from "./printable.ts";
import { print, say } from "./terminal.ts";

const RECALL = "/api/memories/recall";

/** What `ctxd recall` is given. */
export interface RecallOptions {
  project?: string;
  /** Characters that are printed at the most. */
  budget?: string;
  /** The environment variable that switches it on. */
  if?: string;
  /** Whether only a server is to be started, for what is asked next. */
  later?: boolean;
}

/**
 * `ctxd recall`: prints what is known that matters, for an agent: of the project of the folder to begin
 * with, and of what the person asks. As a hook, which is told so on standard input, it never waits for a
 * server to start, and an agent must not fail by it.
 */
export async function recall(
  configure: () => Config,
  options: RecallOptions,
  env: Environment,
): Promise<void> {
  const input = await readHookInput();
  if (isOff(options.if, env)) return;
  if (options.later) return startServer(configure(), env);
  if (!input) return recallForPerson(configure(), options, env);
  try {
    const config = configure();
    const event = readHookEvent(input);
    const answer = await askAsHook(config, RECALL, bodyOf(event, options));
    if (answer === null) return askLater(config, ["recall"], env, {});
    const text = answerOf(event, textIn(answer));
    if (text !== "") await print(text);
  } catch (error) {
    say(`ctxd: nothing was recalled: ${messageOf(error)}`);
  }
}

async function recallForPerson(
  config: Config,
  options: RecallOptions,
  env: Environment,
): Promise<void> {
  const event = { session: null, folder: process.cwd(), prompt: null, isFresh: false };
  const body = bodyOf(event, options);
  const { openApi } = await import("./api.ts");
  using api = await openApi(config, env, {});
  const response = await api.request(RECALL, asRequest(body));
  const text = textIn(await response.json());
  if (text !== "") await print(printable(text));
}

/** What this hook had no time for, the next one finds. */
async function startServer(config: Config, env: Environment): Promise<void> {
  const { reachOwnServer } = await import("./own-server.ts");
  const server = reachOwnServer(config, env);
  await server.connect().finally(server.close);
}

function bodyOf(
  {
    session,
    folder,
    prompt,
    isFresh,
  }: Pick<HookEvent, "session" | "folder" | "prompt" | "isFresh">,
  { project, budget }: RecallOptions,
) {
  return {
    ...(session !== null && { session_id: session }),
    ...(folder !== null && { folder }),
    ...(project !== undefined && { project }),
    ...(prompt !== null && { prompt }),
    ...(budget !== undefined && { max_characters: charactersOf(budget) }),
    fresh: isFresh,
  };
}

function charactersOf(budget: string): number {
  const characters = /^\d{1,6}$/.test(budget) ? Number(budget) : 0;
  if (characters >= RECALL_CHARACTERS.min && characters <= RECALL_CHARACTERS.max) return characters;
  const [least, most] = [RECALL_CHARACTERS.min, RECALL_CHARACTERS.max].map((limit) =>
    limit.toLocaleString("en"),
  );
  throw new CommandError(`--budget takes a whole number from ${least} to ${most}.`, USAGE);
}

function textIn(answer: unknown): string {
  const { text } = Object(answer);
  return typeof text === "string" ? text : "";
}
