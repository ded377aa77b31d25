import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { RECALL_CHARACTERS } from "../../capture/recall-text.ts";
import type { Config } from "../../config/config.ts";
import { errorCode, messageOf } from "../../errors.ts";
import { type Context, type Environment, examples } from "../context.ts";
import {
  addHookOptions,
  answerOf,
  type HookEvent,
  type HookOptions,
  type HookPath,
  isOff,
  postJson,
  RECALL,
  type RecallBody,
  readHookEvent,
  readHookInput,
  refuseLoss,
  sendLater,
  sendWhenServed,
} from "../hooks.ts";
import { print, printable, say, usageError } from "../terminal.ts";

/** Only the type is imported: the module makes a format of dates, which takes a hook a fifth of its time. */
const CHARACTERS: typeof RECALL_CHARACTERS = { min: 200, max: 100_000, default: 4_000 };

/** The code of `ServerAway`, whose module is loaded with `--url` only. */
const AWAY = "server_away";

/** With `later`, it only starts a server for later requests. */
interface RecallOptions extends HookOptions {
  /** The largest number of characters to print. */
  budget?: string;
  /** Whether each line says why it is there. */
  explain?: boolean;
  /** The only space to recall from, by name or id, or `personal`. */
  space?: string;
}

type Settings = Pick<Context, "configure" | "configureExisting" | "env">;

export function define(program: Command, context: Settings): void {
  const command = program
    .command("recall")
    .summary("print the memories that matter for a conversation")
    .description(
      "Prints what is known about the project in this folder and about your preferences, or nothing if nothing is known. As an agent's hook, which ctxd connect AGENT --recall sets up, it also finds memories for each prompt and never repeats one in a conversation.",
    )
    .option("--agent <name>", "the agent whose hook runs it")
    .option("--project <name>", "the project (default: the folder's)")
    .option("--space <name>", "recall only from this space, or only what is personal: personal")
    .option(
      "--budget <characters>",
      `the largest number of characters to print (${CHARACTERS.default})`,
    )
    .option("--explain", "say for each line why it is there");
  addHookOptions(command)
    .addHelpText("after", examples("ctxd recall", "ctxd recall --project acme/shop --explain"))
    .action((options: RecallOptions) => recall(context, options));
}

/**
 * `ctxd recall`: prints memories about the folder's project, or about the user's prompt. As a hook, it gets
 * an event on standard input, waits for a server that starts, but not for long, and never fails the agent.
 * Where nothing was ever saved it starts none.
 */
async function recall(context: Settings, options: RecallOptions) {
  const { configure, env } = context;
  const input = await readHookInput();
  if (isOff(options, env)) return;
  if (options.later) return startServer(configure(), env);
  if (!input) return recallForPerson(context, options);
  try {
    const config = configure();
    const event = readHookEvent(input);
    if (event.prompt === "") return;
    const body = bodyOf(event, options);
    if (!options.url && !config.shared && !existsSync(config.dataDir)) {
      return await refuseLoss(config, env);
    }
    const answer = options.url
      ? await recallRemotely(config, options.url, body, options, env)
      : await sendWhenServed(config, env, pathOf(options), body, options);
    // Then the next hook finds a server.
    if (answer === null) return await sendLater(config, ["recall"], env, {});
    const text = answerOf(event, textIn(answer), options.agent);
    if (text !== "") await print(text);
  } catch (error) {
    if (errorCode(error) === AWAY) return;
    say(`ctxd: nothing was recalled: ${messageOf(error)}`);
  }
}

async function recallForPerson(context: Settings, options: RecallOptions) {
  const { configure, env } = context;
  const body = bodyOf({ ...readHookEvent({}), folder: process.cwd() }, options);
  const answer = options.url
    ? await recallRemotely(configure(), options.url, body, options, env)
    : await recallHere(context, pathOf(options), body);
  const text = textIn(answer);
  if (text !== "") await print(printable(text));
}

/** A space is chosen by the query. */
function pathOf({ space }: RecallOptions): HookPath {
  return space === undefined ? RECALL : `${RECALL}?${new URLSearchParams({ space })}`;
}

async function recallHere(
  { configure, configureExisting, env }: Settings,
  path: HookPath,
  body: RecallBody,
) {
  await refuseLoss(configure(), env);
  const { openApi } = await import("../server/api.ts");
  using api = await openApi(configureExisting(), env, {});
  return await api.json(path, postJson(body));
}

/** Recalls from a remote server. What was captured while it was away can be sent now. */
async function recallRemotely(
  config: Config,
  address: string,
  body: RecallBody,
  options: RecallOptions,
  env: Environment,
) {
  const remote = await import("../server/remote-hooks.ts");
  const url = remote.parseServer(address);
  const answer = await remote.recallRemotely(
    config,
    url,
    { path: pathOf(options), body },
    options.agent,
  );
  remote.sendKeptLater(config, url, env);
  return answer;
}

/** Starts a server, so that the next hook finds one. */
async function startServer(config: Config, env: Environment): Promise<void> {
  const { reachOwnServer } = await import("../server/own-server.ts");
  const server = reachOwnServer(config, env);
  await server.connect().finally(server.close);
}

function bodyOf(
  { session, folder, prompt, isFresh }: HookEvent,
  { project, budget, explain }: RecallOptions,
): RecallBody {
  return {
    ...(session !== null && { session_id: session }),
    ...(folder !== null && { folder }),
    ...(project !== undefined && { project }),
    ...(prompt !== null && { prompt }),
    ...(budget !== undefined && { max_characters: charactersOf(budget) }),
    ...(explain && { explain }),
    fresh: isFresh,
  };
}

function charactersOf(budget: string): number {
  const characters = /^\d{1,6}$/.test(budget) ? Number(budget) : 0;
  if (characters >= CHARACTERS.min && characters <= CHARACTERS.max) return characters;
  const [least, most] = [CHARACTERS.min, CHARACTERS.max].map((limit) => limit.toLocaleString("en"));
  throw usageError(`--budget takes a whole number from ${least} to ${most}.`);
}

function textIn(answer: unknown): string {
  const { text } = Object(answer);
  return typeof text === "string" ? text.slice(0, CHARACTERS.max) : "";
}
