import type { Command } from "commander";
import { RECALL_CHARACTERS } from "../../capture/recall-limits.ts";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { answerOf } from "../hooks/answer.ts";
import { askAsHook, askLater, asRequest } from "../hooks/ask.ts";
import { type HookEvent, readHookEvent } from "../hooks/event.ts";
import { acceptAnything, IF, LATER } from "../hooks/hook-options.ts";
import { readHookInput } from "../hooks/standard-input.ts";
import { isOff } from "../hooks/switch.ts";
import { printable } from "../printable.ts";
import { print, say } from "../terminal.ts";

const RECALL = "/api/memories/recall";

/** What `ctxd recall` is given. */
interface RecallOptions {
  project?: string;
  /** Characters that are printed at the most. */
  budget?: string;
  /** The environment variable that switches it on. */
  if?: string;
  /** Whether only a server is to be started, for what is asked next. */
  later?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  acceptAnything(program.command("recall"))
    .summary("print what is known that matters for a conversation")
    .description(
      "Prints what is known of the project in this folder and of your preferences. As a hook of an agent, which ctxd connect CLIENT --recall sets up, it also finds what matters for each prompt, and tells nothing twice in a conversation. Prints nothing when nothing is known.",
    )
    .option("--agent <name>", "the agent whose hook runs it")
    .option("--project <name>", "the project; by default that of the folder")
    .option(
      "--budget <characters>",
      `characters to print at the most (${RECALL_CHARACTERS.default})`,
    )
    .addOption(IF)
    .addOption(LATER)
    .addHelpText("after", examples("ctxd recall", "ctxd recall --project acme/shop"))
    .action((options: RecallOptions) => recall(configure, options, env));
}

/**
 * `ctxd recall`: prints what is known that matters, for an agent: of the project of the folder to begin
 * with, and of what the person asks. As a hook, which is told so on standard input, it never waits for a
 * server to start, and an agent must not fail by it.
 */
async function recall(
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
  const { openApi } = await import("../api.ts");
  using api = await openApi(config, env, {});
  const response = await api.request(RECALL, asRequest(body));
  const text = textIn(await response.json());
  if (text !== "") await print(printable(text));
}

/** What this hook had no time for, the next one finds. */
async function startServer(config: Config, env: Environment): Promise<void> {
  const { reachOwnServer } = await import("../own-server.ts");
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
