import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Argument, type Command } from "commander";
import type { Config } from "../../config/config.ts";
import { isLocked } from "../../db/data-lock.ts";
import { BUILT_IN, CATALOGUE, catalogueModel, sizeOf } from "../../embedding/catalogue.ts";
import { fetchCatalogueModel, isFetched } from "../../embedding/catalogue-download.ts";
import { openChosenModel } from "../../embedding/chosen-model.ts";
import { ModelError } from "../../embedding/manifest.ts";
import { readChoice, writeChoice } from "../../embedding/model-choice.ts";
import { silentLog } from "../../log.ts";
import { describeCommand } from "../../server/invocation.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { createByteMeter } from "../progress.ts";
import { parseUrl } from "../server/url.ts";
import {
  CommandError,
  interruptible,
  print,
  printJson,
  printTable,
  say,
  usageError,
} from "../terminal.ts";

interface FetchOptions {
  file?: readonly string[];
  from?: URL;
}

export function define(program: Command, { configure, env }: Context): void {
  const names = CATALOGUE.map(({ name }) => name);
  const model = program
    .command("model")
    .summary("list, fetch and switch embedding models")
    .description(
      "Manages embedding models, which represent the meaning of texts. The built-in model, bge-small, knows English. Texts in other languages are found by their words only, unless you use another model. ctxd fetches a model only when you run model fetch.",
    );
  model
    .command("list")
    .description("list the models: languages, size, whether each is on this machine and in use")
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd model list"))
    .action((options: { json?: boolean }) => listModels(configure(), options));
  model
    .command("fetch")
    .addArgument(offering("<name>", "a name that ctxd model list shows", names))
    .summary("fetch a model")
    .description(
      "Fetches a model from huggingface.co into the cache folder. Each file must have the SHA-256 that this program contains. If the download breaks off, the same command continues it.",
    )
    .option(
      "--file <path>",
      "read it from a file, or from a folder with its files, without a network; repeatable",
      (path: string, before: readonly string[] | undefined) => [...(before ?? []), path],
    )
    .option("--from <url>", "use a mirror of huggingface.co", parseUrl)
    .addHelpText(
      "after",
      examples(
        "ctxd model fetch multilingual-e5-small",
        "ctxd model fetch multilingual-e5-small --file /mnt/usb/multilingual-e5-small",
      ),
    )
    .action((name: string, options: FetchOptions) => fetchNamed(configure(), name, options, env));
  model
    .command("use")
    .addArgument(
      offering("<name>", "a name that ctxd model list shows, or a folder with a model", names),
    )
    .summary("use another model from the next start of the server")
    .description(
      "Makes the server use another model from its next start. It then rebuilds the vectors of all memories in the background; searches use the old ones until that is done. CTXD_MODEL, if set, takes precedence.",
    )
    .addHelpText(
      "after",
      examples("ctxd model use multilingual-e5-small", "ctxd model use bge-small"),
    )
    .action((name: string) => useModel(configure(), name, env));
}

/** An argument with suggestions for shell completion. Other values are allowed too. */
function offering(name: string, description: string, words: string[]): Argument {
  return Object.assign(new Argument(name, description), { argChoices: words });
}

async function listModels(config: Config, { json }: { json?: boolean }): Promise<void> {
  const { model, by } = await readChoice(config);
  const chosen = model ?? BUILT_IN;
  const models = await Promise.all(
    CATALOGUE.map(async (each) => ({
      name: each.name,
      languages: each.languages,
      bytes: sizeOf(each),
      is_here:
        each.fetched === null || (await isFetched(each.fetched.description, config.cacheDir)),
      is_used: each.name === chosen,
      use: each.use,
    })),
  );
  if (json) return await printJson({ used: chosen, chosen_by: by, models });
  const rows = models.map((each) => [
    each.is_used ? `${each.name} *` : each.name,
    each.languages,
    `${Math.round(each.bytes / 1e6)} MB`,
    each.is_here ? "yes" : "no",
    each.use,
  ]);
  await printTable(["MODEL", "LANGUAGES", "SIZE", "HERE", "GOOD FOR"], rows);
  const named = by === "CTXD_MODEL" ? `${chosen}, by CTXD_MODEL` : chosen;
  await print(`${catalogueModel(chosen) ? "* in" : "In"} use: ${named}`);
}

async function fetchNamed(
  config: Config,
  name: string,
  { file, from }: FetchOptions,
  env: Environment,
): Promise<void> {
  const { cacheDir, dataDir } = config;
  const known = catalogueModel(name);
  if (!known) throw unknownModel(name);
  if (!known.fetched) return say(`${name} is built in: there is nothing to fetch.`);
  const { description, address } = known.fetched;
  const meter = createByteMeter(`Fetching ${name}`);
  const folder = await interruptible(
    (signal) =>
      fetchCatalogueModel(
        { description, address: from ? onMirror(address, from) : address },
        cacheDir,
        {
          ...(file && { from: file }),
          onProgress: meter.show,
          signal,
        },
      ),
    `Stopped: ${describeCommand(`model fetch ${name}`, config, env)} continues the download.`,
  ).finally(meter.end);
  say(`${name} is in ${folder}.`);
  say(`To search with it: ${describeCommand(`model use ${name}`, config, env)}`);
  if (existsSync(dataDir) && isLocked(dataDir)) say("The running server keeps using its model.");
}

async function useModel(config: Config, name: string, env: Environment): Promise<void> {
  const { cacheDir, dataDir, model: named, shared } = config;
  if (shared) {
    throw usageError(`Several servers share this data: set CTXD_MODEL=${name} for each of them.`);
  }
  if (named !== null) {
    throw usageError("CTXD_MODEL sets the model: change it, or unset it.");
  }
  const before = await chosenBefore(config);
  const model = await resolveModel(config, name, env);
  if (model === before) return say(`${name} is already in use.`);
  if (model !== BUILT_IN) {
    const by = "ctxd model use" as const;
    const embedder = await openChosenModel({ model, by, cacheDir, log: silentLog });
    await embedder.close();
  }
  await writeChoice(dataDir, model === BUILT_IN ? null : model);
  const isServed = existsSync(dataDir) && isLocked(dataDir);
  say(`The server uses ${name} from its next start.`);
  if (isServed) say("Restart the server.");
  say(
    `It then rebuilds the vectors of all memories in the background; searches use the old ones until that is done. ${describeCommand("doctor", config, env)} shows the progress, and ${describeCommand(`model use ${before ?? BUILT_IN}`, config, env)} switches back.`,
  );
}

/** The model in use; null if its file is damaged. */
async function chosenBefore(config: Config): Promise<string | null> {
  const chosen = await readChoice(config).catch((error) => {
    if (!(error instanceof ModelError)) throw error;
    return null;
  });
  return chosen && (chosen.model ?? BUILT_IN);
}

/** Resolves the argument of `model use` to a model's name, or to the absolute path of a folder. */
async function resolveModel(config: Config, name: string, env: Environment): Promise<string> {
  const known = catalogueModel(name);
  if (known) {
    const { fetched } = known;
    if (fetched === null || (await isFetched(fetched.description, config.cacheDir))) return name;
    const command = describeCommand(`model fetch ${name}`, config, env);
    throw new CommandError(`${name} is not on this machine: ${command} downloads it.`);
  }
  const folder = resolve(name);
  if (existsSync(folder)) return folder;
  throw unknownModel(name, ", or the folder of a model");
}

function unknownModel(name: string, orElse = ""): CommandError {
  const names = CATALOGUE.map((model) => model.name).join(", ");
  return usageError(`There is no model ${name}. Use one of ${names}${orElse}.`);
}

/** The address of the same path on a mirror. */
function onMirror(address: string, mirror: URL): string {
  return `${mirror.href.replace(/\/$/, "")}${new URL(address).pathname}`;
}
