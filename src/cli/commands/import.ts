import { type Command, Option } from "commander";
import { projectOfFolder } from "../../capture/project.ts";
import type { Config } from "../../config/config.ts";
import { SourceError } from "../../import/files/source.ts";
import { openAgent, openSources } from "../../import/open-sources.ts";
import type { Reading } from "../../import/read-files.ts";
import { TRANSCRIPT_AGENTS } from "../../import/transcripts/folders.ts";
import {
  countOf,
  createTotals,
  describeFiles,
  describeTotals,
  isUnderstood,
  type Totals,
  transfer,
} from "../../import/transfer.ts";
import type { ImportedMemory, ImportReport } from "../../memories/model/memory.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { targetOptions } from "../options.ts";
import { createMeter } from "../progress.ts";
import { openApi, type Target } from "../server/api.ts";
import {
  CommandError,
  interruptible,
  isInteractive,
  printable,
  say,
  usageError,
} from "../terminal.ts";

/** Failures and files that are listed by name. */
const MAX_LISTED = 20;
/** Characters of each memory in a preview. */
const EXCERPT_LENGTH = 200;

interface ImportChoice extends Target {
  dryRun?: boolean;
  preview?: boolean;
  project?: string;
  /** The agent whose transcripts are imported. */
  from?: string;
}

export function define(program: Command, { configure, env }: Context): void {
  const { user, space, url } = targetOptions;
  program
    .command("import")
    .argument("[file...]", "files, folders, or - for standard input")
    .summary("import memories from ctxd or from other programs")
    .description(
      `Imports memories. It detects the kind of each file:
  an export of ctxd, mem0, Supermemory, Zep, Letta, agentmemory or mcp-memory-service
  the ZIP export of ChatGPT or Claude: conversations and saved memories
  the file of the MCP memory server (JSON lines)
  the transcripts of Claude Code, Codex and Gemini CLI (with --from)
  a folder of Markdown notes, such as those of basic-memory or Obsidian
  a list copied from ChatGPT or Claude, a list in JSON, a table in CSV
  text and Markdown: each paragraph and list item is a memory; PDF: each page
Memories that exist already stay as they are. Importing a file again adds only what is missing.
Secrets such as API keys are masked. If nothing can be imported, the exit code is 1.`,
    )
    .addOption(user())
    .addOption(space())
    .addOption(url())
    .addOption(
      new Option("--from <agent>", "all transcripts of an agent on this machine").choices(
        TRANSCRIPT_AGENTS,
      ),
    )
    .option("--preview", "show the first memories and what would change, and change nothing")
    .option("--dry-run", "only show what would change")
    .option("--project <name>", "project of memories that have none")
    .addHelpText(
      "after",
      examples(
        "ctxd import ~/Downloads/chatgpt-export.zip --preview",
        "ctxd import --from claude-code --preview",
        "ctxd import ~/notes --project atlas",
        "ctxd import memories.jsonl",
      ),
    )
    .action((files: string[], options: ImportChoice) =>
      importFrom(configure(), files, options, env),
    );
}

async function importFrom(config: Config, paths: string[], choice: ImportChoice, env: Environment) {
  const { dryRun = false, preview = false, project, from, ...target } = choice;
  if (paths.includes("-") && target.url && !isInteractive()) {
    throw usageError("Standard input is the API key: give a file to import.");
  }
  if (paths.includes("-") && paths.length > 1) {
    throw usageError("- is standard input and can't be combined with files.");
  }
  if ((from === undefined) === (paths.length === 0)) {
    throw usageError("Give files to import, or an agent with --from.");
  }
  const isTrial = dryRun || preview;
  const options = { project: project ?? null, projectOf: projectOfFolder };
  const reading = from
    ? await openAgent(from, { ...options, env })
    : await openSources(paths, options);
  using api = await openApi(config, env, target);
  const meter = createMeter(isTrial ? "Reading" : "Importing");
  const totals = createTotals();
  let isDone = false;
  try {
    await interruptible(async (signal) => {
      const send = async (lines: readonly string[]) => {
        signal.throwIfAborted();
        return await api.json<ImportReport>(`/api/memories/import?dry_run=${isTrial}`, {
          method: "POST",
          headers: { "content-type": "application/x-ndjson" },
          body: lines.map((line) => `${line}\n`).join(""),
          signal,
        });
      };
      for await (const _ of transfer(reading, totals, send)) {
        meter.show(countOf(totals), reading.share());
      }
    }, "Stopped.");
    isDone = true;
  } catch (error) {
    if (!(error instanceof SourceError) || error.source !== "") throw error;
    throw new CommandError(`${nameOf(paths)} ${error.problem}.`);
  } finally {
    meter.end();
    if (!isDone && countOf(totals) > 0 && !isTrial) {
      say(`${describe(reading, totals)} The same command continues from there.`);
    }
  }
  report(reading, totals, { isTrial, isPreview: preview, name: nameOf(paths) });
}

/** What a file without a name is to its reader: the only one, or standard input. */
function nameOf([path = "-"]: readonly string[]): string {
  return path === "-" ? "Standard input" : path;
}

function describe({ files }: Reading, totals: Totals): string {
  return `From ${describeFiles(files)}: ${describeTotals(totals)}.`;
}

/** Prints the result. @throws CommandError when a part can't be imported */
function report(
  reading: Reading,
  totals: Totals,
  { isTrial, isPreview, name }: { isTrial: boolean; isPreview: boolean; name: string },
): void {
  if (isPreview) for (const memory of totals.samples) say(`  ${excerpt(memory)}`);
  for (const [reason, count] of reading.leftOut) say(`Left out: ${reason}: ${count}.`);
  const isOne = reading.files.length === 1;
  const unread = reading.files.filter(({ problem }) => problem !== null);
  for (const { name: other, problem } of isOne ? [] : unread.slice(0, MAX_LISTED)) {
    say(`Not read: ${printable(other)} ${problem}.`);
  }
  if (unread.length > MAX_LISTED) say(`Not read: … and ${unread.length - MAX_LISTED} more.`);
  if (totals.masked > 0) say(`Secrets masked in: ${totals.masked}.`);
  for (const [note, count] of totals.notes) say(`Of ${count}: ${note}.`);
  if (isUnderstood(totals)) {
    say(isTrial ? `Nothing was changed. ${describe(reading, totals)}` : describe(reading, totals));
  }
  reportFailed(totals);
  if (!isUnderstood(totals)) {
    const [only] = reading.files;
    const why = isOne && only?.problem ? `: ${name} ${only.problem}` : "";
    throw new CommandError(
      `Nothing was imported${why}. \`ctxd import --help\` lists what can be imported.`,
    );
  }
}

function reportFailed({ failed, failures }: Totals): void {
  if (failures === 0) return;
  for (const { at, reason } of failed.slice(0, MAX_LISTED)) {
    say(`  ${printable(at)}: ${reason.replace(/\.$/, "")}`);
  }
  if (failures > MAX_LISTED) say(`  … and ${failures - MAX_LISTED} more`);
  const what = failures === 1 ? "1 place" : `${failures} places`;
  throw new CommandError(`${what} can't be imported.`);
}

/** Formats a memory in one line. */
function excerpt({ content, project, session_id, created_at, tags = [] }: ImportedMemory): string {
  const text = content.replace(/\s+/g, " ").trim();
  const cut = text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH).trimEnd()}…` : text;
  const about = [
    created_at?.slice(0, 10),
    project,
    session_id ? `session ${session_id}` : null,
    ...tags.map((tag) => `#${tag}`),
  ].filter((part) => part !== null && part !== undefined);
  return printable(about.length === 0 ? cut : `${cut} (${about.join(", ")})`);
}
