import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { Project } from "../../memories/model/memory.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { nameParser } from "../options.ts";
import {
  addSelection,
  confirmSelection,
  describeCount,
  readSelection,
  type SelectionOptions,
} from "../selection.ts";
import { openApi } from "../server/api.ts";
import { print, say, usageError } from "../terminal.ts";

interface MoveOptions extends SelectionOptions {
  to?: string;
  /** Whether to move to no project. */
  toNone?: boolean;
  json?: boolean;
}

export function define(program: Command, { configureExisting, env }: Context): void {
  const command = program
    .command("move")
    .summary("move memories to another project")
    .description(
      "Moves memories to another project, or to none: by id, chosen from the results of a search, or all that the options select, such as all of a project whose repository was renamed. Shows the memories first and asks for confirmation.",
    );
  addSelection(command)
    .option("--to <project>", "the new project", nameParser(Project))
    .option("--to-none", "no project: the memories are found in all projects")
    .option("--json", "print how many were moved, as JSON")
    .addHelpText(
      "after",
      examples(
        "ctxd move --project atlas --to acme/atlas",
        "ctxd move --to-none which food makes Sam ill",
      ),
    )
    .action((what: string[], options: MoveOptions) =>
      move(configureExisting(options), what, options, env),
    );
}

async function move(config: Config, what: string[], options: MoveOptions, env: Environment) {
  const { to, toNone } = options;
  if ((to === undefined) === !toNone) {
    throw usageError("Say where to move them: --to PROJECT, or --to-none.");
  }
  const project = to ?? null;
  const where = project === null ? "no project" : `the project ${project}`;
  const selection = await readSelection(what, options, "move");
  using api = await openApi(config, env, options);
  const question = (memories: string) => `Move ${memories} to ${where}?`;
  const confirmed = await confirmSelection(api, selection, { ...options, question });
  const change = <Body>(method: string, path: string) =>
    api.change<Body>(`/api/memories${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ project }),
    });
  let moved: number | null;
  if ("filter" in confirmed) {
    const answer = await change<{ moved: number }>("POST", `/move?${confirmed.filter}`);
    moved = answer?.moved ?? null;
  } else {
    for (const id of confirmed.ids) await change("PUT", `/${id}`);
    moved = confirmed.ids.length;
  }
  if (options.json) await print(JSON.stringify({ moved }));
  else say(`Moved to ${where}: ${describeCount(moved)}.`);
}
