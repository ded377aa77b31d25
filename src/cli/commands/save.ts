import type { Static } from "@sinclair/typebox";
import type { Command } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config/config.ts";
import { placeText } from "../../mcp/memory-text.ts";
import { Project, type SavedMemory } from "../../memories/model/memory.ts";
import { firstLineOf } from "../../text/short-text.ts";
import { type Context, type Environment, examples, PROJECT_NOTE } from "../context.ts";
import { inputText } from "../input.ts";
import {
  collectTags,
  nameParser,
  parseExpiry,
  parseId,
  parseShare,
  targetOptions,
} from "../options.ts";
import { type Api, openApi, type Target } from "../server/api.ts";
import { print, printJson, say } from "../terminal.ts";

interface SaveOptions extends Target {
  /** Default: the project of the folder. False for no project. */
  project?: string | false;
  tag?: readonly string[];
  importance?: number;
  pin?: boolean;
  expires?: Date;
  supersedes?: string;
  json?: boolean;
}

type Saved = Static<typeof SavedMemory>;

const SIMILARITY = {
  near: "Similar",
  changed: "May be outdated",
  superseded: "Said the same, and was replaced",
};
/** Similar memories that are shown after a save. */
const MAX_SIMILAR = 3;

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("save")
    .argument("[text...]", "the text to save; - or no text reads standard input")
    .summary("save a memory")
    .description(
      "Saves a memory and prints its id. In a git repository the memory belongs to that project, like the memories that agents save there.",
    )
    .option("--project <name>", "the memory's project", nameParser(Project))
    .option("--no-project", "no project: the memory is found in all projects")
    .option("--tag <tag>", "a label to filter by; may be repeated", collectTags)
    .option("--importance <number>", "0 to 1; a higher number fades more slowly (0.5)", parseShare)
    .option("--pin", "the memory never fades")
    .option("--expires <when>", "delete it then: 12h, 90d, 2w, 1y, or a date", parseExpiry)
    .option("--supersedes <id>", "id of an older memory that this one replaces", parseId)
    .option("--json", "print the whole memory, as JSON")
    .addOption(targetOptions.user())
    .addOption(targetOptions.space())
    .addOption(targetOptions.url())
    .addHelpText("after", `\n${PROJECT_NOTE}`)
    .addHelpText(
      "after",
      examples(
        "ctxd save The staging server is rebuilt every Monday",
        "ctxd save --no-project --tag food 'Sam is allergic to peanuts'",
        "git log -1 --format=%B | ctxd save --tag release",
      ),
    )
    .action((words: string[], options: SaveOptions) => save(configure(), words, options, env));
}

async function save(config: Config, words: string[], options: SaveOptions, env: Environment) {
  const content = await inputText(
    words,
    "There is nothing to save: give a text, as in ctxd save Sam likes tea.",
    options,
  );
  const { project: wanted, importance, expires, supersedes } = options;
  const project = wanted === undefined ? await projectOfFolder(process.cwd()) : wanted || null;
  using api = await openApi(config, env, options);
  const response = await api.request("/api/memories?similar=true", {
    method: "POST",
    // The key makes the request safe to repeat when the server ends before it answers.
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify({
      content,
      ...(project !== null && { project }),
      ...(options.tag && { tags: options.tag }),
      ...(importance !== undefined && { importance }),
      ...(options.pin && { pinned: true }),
      ...(expires && { expires_at: expires.toISOString() }),
      ...(supersedes !== undefined && { supersedes }),
    }),
  });
  const saved = (await response.json()) as Saved;
  if (options.json) return await printJson(saved);
  await print(saved.id);
  const inProject = saved.project === null ? "" : ` in the project ${saved.project}`;
  const where = inProject + placeText(saved);
  for (const { message } of saved.warnings ?? []) say(`Warning: ${message}`);
  say(response.status === 201 ? `Saved${where}.` : `This text was already saved${where}.`);
  await showSimilar(api, saved);
}

/** Shows memories that the new one may repeat or make outdated. */
async function showSimilar(api: Api, { supersedes, similar = [] }: Saved) {
  const others = similar.filter((one) => one.id !== supersedes).slice(0, MAX_SIMILAR);
  for (const other of others) {
    const { content } = await api.json<Saved>(`/api/memories/${other.id}`);
    say(`${SIMILARITY[other.kind]}: ${other.id} (${firstLineOf(content)})`);
  }
  if (others.length === 0) return;
  say(
    "ctxd forget deletes a memory that is no longer needed. To keep an outdated one as history, save the same text again with --supersedes and its id.",
  );
}
