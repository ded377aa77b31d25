import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { Project } from "../../memories/memory.ts";
import { openApi } from "../api.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { nameParser } from "../name-options.ts";
import { readSelection, type SelectionOptions, settleSelection } from "../selection.ts";
import { addSelection } from "../selection-options.ts";
import { print, say } from "../terminal.ts";

/** What `ctxd move` is given beside ids or words. */
interface MoveOptions extends SelectionOptions {
  /** The project that they belong to from then on. */
  to?: string;
  /** Whether that is none. */
  toNone?: boolean;
  json?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  const command = program
    .command("move")
    .summary("move memories to another project")
    .description(
      "Has memories belong to another project, or to none: those named by their ids, those that you choose from what is found, or all that pass the options, such as all of a project whose repository has another name now. It shows them first and asks.",
    );
  addSelection(command)
    .option("--to <project>", "the project that they belong to from then on", nameParser(Project))
    .option("--to-none", "they belong to no project from then on: they are of use everywhere")
    .option("--json", "print how many were moved, as JSON")
    .addHelpText(
      "after",
      examples(
        "ctxd move --project atlas --to acme/atlas",
        "ctxd move --to-none which food makes Sam ill",
      ),
    )
    .action((what: string[], options: MoveOptions) => move(configure(), what, options, env));
}

/** `ctxd move` */
async function move(
  config: Config,
  what: readonly string[],
  options: MoveOptions,
  env: Environment,
): Promise<void> {
  const { to, toNone } = options;
  if ((to === undefined) === !toNone) {
    throw new CommandError("Say where to: --to PROJECT, or --to-none.", USAGE);
  }
  const project = to ?? null;
  const where = project === null ? "no project" : `the project ${project}`;
  const selection = await readSelection(what, options, "move");
  using api = await openApi(config, env, options);
  const question = (memories: string) => `Move ${memories} to ${where}?`;
  const settled = await settleSelection(api, selection, { ...options, question });
  const send = async (path: string, method: string) =>
    api.request(`/api/memories${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ project }),
    });
  let moved = 0;
  if ("filter" in settled) {
    const response = await send(`/move?${settled.filter}`, "POST");
    ({ moved } = (await response.json()) as { moved: number });
  } else {
    for (const id of settled.ids) {
      await send(`/${id}`, "PUT");
      moved++;
    }
  }
  if (options.json) await print(JSON.stringify({ moved }));
  else say(`Moved to ${where}: ${moved === 1 ? "1 memory" : `${moved} memories`}.`);
}
