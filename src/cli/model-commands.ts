import { Argument, type Command } from "commander";
import { CATALOGUE } from "../embedding/catalogue.ts";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { FetchOptions } from "./model.ts";
import type { Configure } from "./program.ts";
import { parseUrl } from "./url.ts";

export function addModelCommands(program: Command, configure: Configure, env: Environment): void {
  const names = CATALOGUE.map(({ name }) => name);
  const model = program
    .command("model")
    .summary("list, fetch and switch the models that tell what a text means")
    .description(
      "Manages the models that tell what a text means. The one that is in the program, bge-small, knows English; texts in other languages are found by their words alone until another one is used. Nothing is fetched unless you say so.",
    );
  model
    .command("list")
    .description("list the models: languages, size, whether they are here, which is in use")
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd model list"))
    .action(async (options: { json?: boolean }) =>
      (await import("./model.ts")).listModels(configure(), options),
    );
  model
    .command("fetch")
    .addArgument(offering("<name>", "one of ctxd model list", names))
    .summary("fetch a model")
    .description(
      "Fetches a model from huggingface.co into the cache folder. Each file is checked by its SHA-256, which this program knows. After a break the same command goes on where it was.",
    )
    .option(
      "--file <path>",
      "take it from a file, or from a folder with its files, without a network; repeatable",
      (path: string, before: readonly string[] | undefined) => [...(before ?? []), path],
    )
    .option("--from <url>", "ask a mirror of huggingface.co", parseUrl)
    .addHelpText(
      "after",
      examples(
        "ctxd model fetch multilingual-e5-small",
        "ctxd model fetch multilingual-e5-small --file /mnt/usb/multilingual-e5-small",
      ),
    )
    .action(async (name: string, options: FetchOptions) =>
      (await import("./model.ts")).fetchNamed(configure(), name, options, env),
    );
  model
    .command("use")
    .addArgument(offering("<name>", "one of ctxd model list, or a folder with a model", names))
    .summary("use another model from the next start on")
    .description(
      "Has the server use another model from its next start on. The vectors of all memories are rebuilt in the background; until that is done the present ones answer. Where CTXD_MODEL is set, it decides instead.",
    )
    .addHelpText(
      "after",
      examples("ctxd model use multilingual-e5-small", "ctxd model use bge-small"),
    )
    .action(async (name: string) => (await import("./model.ts")).useModel(configure(), name, env));
}

/** An argument that a shell completes with words, and that may have others. */
function offering(name: string, description: string, words: string[]): Argument {
  return Object.assign(new Argument(name, description), { argChoices: words });
}
