import { existsSync, rmSync } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { moveFile } from "../../system/files.ts";
import { memoryCount } from "../../text/number-text.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { targetOptions } from "../options.ts";
import { createMeter } from "../progress.ts";
import { openApi, type Target } from "../server/api.ts";
import {
  CommandError,
  confirm,
  interruptible,
  isInteractive,
  say,
  usageError,
  write,
} from "../terminal.ts";

const LINE_BREAK = 10;

export function define(program: Command, { configureExisting, env }: Context): void {
  const { user, space, url } = targetOptions;
  program
    .command("export")
    .argument("<file>", "the file to write; - is standard output")
    .summary("write all memories of an account to a file")
    .description(
      "Writes all memories of an account to a file, one JSON object per line, also while the server runs. ctxd import restores them from it on any server.",
    )
    .option("-y, --yes", "replace an existing file without asking")
    .addOption(user())
    .addOption(space())
    .addOption(url())
    .addHelpText(
      "after",
      "\nIn a terminal it asks before it replaces a file. Elsewhere, as in a scheduled job, it replaces it.",
    )
    .addHelpText("after", examples("ctxd export memories.jsonl"))
    .action((file: string, options: ExportOptions) =>
      exportTo(configureExisting(options), file, options, env),
    );
}

interface ExportOptions extends Target {
  yes?: boolean;
}

/** Endings of files that are no JSON. */
const OTHER_FORMAT = /\.(csv|tsv|xlsx?|ods|md|html?|zip|gz|db|sqlite)$/i;

/** `ctxd export FILE`: replaces an existing file after everything is written. */
async function exportTo(config: Config, target: string, options: ExportOptions, env: Environment) {
  const [ending] = OTHER_FORMAT.exec(target) ?? [];
  if (ending) {
    throw usageError(
      `An export is JSON, one memory a line, and no ${ending} file: give it a name such as memories.jsonl.`,
    );
  }
  const isThere = target !== "-" && (await stat(target).catch(() => null))?.isFile();
  if (isThere && !options.yes && isInteractive() && !(await confirm(`Replace ${target}?`))) {
    throw new CommandError("Nothing was exported.");
  }
  using api = await openApi(config, env, options);
  const meter = createMeter("Exporting");
  try {
    let count = 0;
    const onCount = (lines: number) => {
      count = lines;
      meter.show(lines, null);
    };
    await interruptible(async (signal) => {
      const { body } = await api.request("/api/memories/export", { signal });
      const chunks = countLines(body ?? new Blob().stream(), onCount);
      if (target !== "-") return await toFile(resolve(target), chunks);
      for await (const chunk of chunks) await write(chunk);
    });
    meter.end();
    const where = target === "-" ? "" : ` to ${resolve(target)}`;
    say(`Exported ${memoryCount(count)}${where}.`);
  } finally {
    meter.end();
  }
}

/** Yields the chunks of a stream. @param onCount receives the number of lines so far */
async function* countLines(
  chunks: AsyncIterable<Uint8Array>,
  onCount: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  try {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, at + 1))
        count++;
      onCount(count);
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError("The server ended before the export was complete: try again.");
  }
}

async function toFile(target: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const known = await stat(target).catch(() => null);
  // A symbolic link is followed. A pipe or a device is written directly, not replaced.
  const isReplaced = known === null || (known.isFile() && !/^\/(dev|proc)\//.test(target));
  const path = known && isReplaced ? await realpath(target) : target;
  const unfinished = isReplaced ? `${path}.unfinished` : path;
  try {
    // No other user may read it: it contains all memories.
    const file = await open(unfinished, "w", 0o600);
    try {
      for await (const chunk of chunks) await file.writeFile(chunk);
      if (isReplaced) await file.sync();
    } finally {
      await file.close();
    }
    if (isReplaced) await moveFile(unfinished, path);
  } catch (error) {
    if (isReplaced) rmSync(unfinished, { force: true });
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new CommandError(`${explain(error.code, path)} Nothing was exported.`);
  }
}

function explain(code: unknown, path: string): string {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return `The disk of ${path} is full.`;
    case "ENOENT":
      return existsSync(dirname(path))
        ? `No file can be made in ${dirname(path)}: choose another folder.`
        : `There is no folder ${dirname(path)}: create it, or choose another.`;
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return `You may not write to ${path}: choose another folder.`;
    case "EISDIR":
      return `${path} is a folder: name a file in it.`;
    default:
      return `${path} can't be written (${code}).`;
  }
}
