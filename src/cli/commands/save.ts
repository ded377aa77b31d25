import type { Static } from "@sinclair/typebox";
import type { Command } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config.ts";
import type { SavedMemory } from "../../memories/memory.ts";
import { Project } from "../../memories/memory.ts";
import { titleOf } from "../../short-text.ts";
import { type Api, openApi, type Target } from "../api.ts";
import type { Context, Environment } from "../context.ts";
import { parseExpiry } from "../expiry.ts";
import { examples, PROJECT_NOTE } from "../help-text.ts";
import { inputText } from "../input-text.ts";
import { collectTags, parseId, parseShare } from "../memory-options.ts";
import { nameParser } from "../name-options.ts";
import { targetOptions } from "../target-options.ts";
import { print, say } from "../terminal.ts";

/** What `ctxd save` is given beside the text. */
interface SaveOptions extends Target {
  /** By default that of the folder; false for none. */
  project?: string | false;
  tag?: readonly string[];
  importance?: number;
  pin?: boolean;
  expires?: Date;
  supersedes?: string;
  json?: boolean;
}

type Saved = Static<typeof SavedMemory>;

/** Memories that are told at the most as being like the one that was saved. */
const SIMILAR = 3;

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("save")
    .argument("[text...]", "what to remember; - or nothing is standard input")
    .summary("save a memory")
    .description(
      "Saves a memory and prints its id. In a folder of a git repository it belongs to that project, as what agents save there.",
    )
    .option("--project <name>", "the project that it belongs to", nameParser(Project))
    .option("--no-project", "it belongs to no project: it is of use everywhere")
    .option("--tag <tag>", "a label to filter by; may be repeated", collectTags)
    .option("--importance <number>", "0 to 1, the higher, the slower it fades (0.5)", parseShare)
    .option("--pin", "it never fades")
    .option("--expires <when>", "forget it then: 12h, 90d, 2w, 1y, or a date", parseExpiry)
    .option("--supersedes <id>", "the memory whose place it takes", parseId)
    .option("--json", "print the whole memory, as JSON")
    .addOption(targetOptions.user())
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

/** `ctxd save` */
async function save(
  config: Config,
  words: readonly string[],
  options: SaveOptions,
  env: Environment,
): Promise<void> {
  const content = await inputText(words, "There is nothing to save: give a text.", options);
  const { project: wanted, importance, expires, supersedes } = options;
  const project = wanted === undefined ? projectOfFolder(process.cwd()) : wanted || null;
  using api = await openApi(config, env, options);
  const response = await api.request("/api/memories?similar=true", {
    method: "POST",
    // The request may be sent again when the server ends before it has answered.
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
  await print(options.json ? JSON.stringify(saved, null, 2) : saved.id);
  if (options.json) return;
  const where = saved.project === null ? "" : ` in the project ${saved.project}`;
  for (const { message } of saved.warnings ?? []) say(`Careful: ${message}`);
  say(response.status === 201 ? `Saved${where}.` : `It was known already${where}.`);
  await tellSimilar(api, saved);
}

/** Says what is known that the new memory may repeat, or take the place of. */
async function tellSimilar(api: Api, { id, supersedes, similar = [] }: Saved) {
  const others = similar.filter((one) => one.id !== supersedes).slice(0, SIMILAR);
  for (const other of others) {
    const response = await api.request(`/api/memories/${other.id}`);
    const { content } = (await response.json()) as Saved;
    const how = other.kind === "changed" ? "May be outdated" : "Much alike";
    say(`${how}: ${other.id} (${titleOf(content)})`);
  }
  if (others.length === 0) return;
  say(
    `ctxd forget removes what is not needed. To keep what was true as history, forget ${id} and save it with --supersedes.`,
  );
}
