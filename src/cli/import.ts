import { projectOfFolder } from "../capture/project.ts";
import type { Config } from "../config.ts";
import { openAgent } from "../import/agent-folder.ts";
import { openSources } from "../import/open-sources.ts";
import type { Reading } from "../import/read-files.ts";
import {
  countOf,
  createTotals,
  describeFiles,
  describeTotals,
  isUnderstood,
  type Totals,
  transfer,
} from "../import/transfer.ts";
import type { ImportedMemory, ImportReport } from "../memories/memory.ts";
import { openApi, type Target } from "./api.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { interruptible } from "./interruption.ts";
import { printable } from "./printable.ts";
import { createMeter } from "./progress.ts";
import { isInteractive, say } from "./terminal.ts";

/** Places that are named. */
const NAMED = 20;
/** Characters of a text that a preview shows. */
const EXCERPT = 200;

export interface ImportChoice extends Target {
  dryRun?: boolean;
  preview?: boolean;
  project?: string;
  /** The agent whose transcripts are imported. */
  from?: string;
}

/** `ctxd import FILE...` */
export async function importFrom(
  config: Config,
  paths: readonly string[],
  { dryRun = false, preview = false, project, from, ...target }: ImportChoice,
  env: Environment,
): Promise<void> {
  if (paths.includes("-") && target.url && !isInteractive()) {
    throw new CommandError("Standard input has the key: give a file to import.", USAGE);
  }
  if (paths.includes("-") && paths.length > 1) {
    throw new CommandError("- is standard input, and read alone.", USAGE);
  }
  if ((from === undefined) === (paths.length === 0)) {
    throw new CommandError("Give files to import, or an agent by --from.", USAGE);
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
        const response = await api.request(`/api/memories/import?dry_run=${isTrial}`, {
          method: "POST",
          headers: { "content-type": "application/x-ndjson" },
          body: lines.map((line) => `${line}\n`).join(""),
          signal,
        });
        return (await response.json()) as ImportReport;
      };
      for await (const _ of transfer(reading, totals, send)) {
        meter.show(countOf(totals), reading.share());
      }
    }, "Stopped.");
    isDone = true;
  } finally {
    meter.end();
    if (!isDone && countOf(totals) > 0 && !isTrial) {
      say(`${describe(reading, totals)} The same command again goes on from there.`);
    }
  }
  report(reading, totals, { isTrial, isPreview: preview });
}

function describe({ files }: Reading, totals: Totals): string {
  return `From ${describeFiles(files)}: ${describeTotals(totals)}.`;
}

/** @throws CommandError when something can't be imported */
function report(
  reading: Reading,
  totals: Totals,
  { isTrial, isPreview }: { isTrial: boolean; isPreview: boolean },
): void {
  if (isPreview) for (const memory of totals.samples) say(`  ${excerpt(memory)}`);
  for (const [reason, count] of reading.leftOut) say(`Left out: ${reason}: ${count}.`);
  const isOne = reading.files.length === 1;
  const unread = reading.files.filter(({ problem }) => problem !== null);
  for (const { name, problem } of isOne ? [] : unread.slice(0, NAMED)) {
    say(`Not read: ${printable(name)} ${problem}.`);
  }
  if (unread.length > NAMED) say(`Not read: … and ${unread.length - NAMED} more.`);
  if (totals.masked > 0) say(`Of ${totals.masked}: secrets were masked.`);
  for (const [note, count] of totals.notes) say(`Of ${count}: ${note}.`);
  if (isUnderstood(totals)) {
    say(isTrial ? `Nothing was changed. ${describe(reading, totals)}` : describe(reading, totals));
  }
  reportFailed(totals);
  if (!isUnderstood(totals)) {
    const [only] = reading.files;
    const why = isOne && only?.problem ? `: it ${only.problem}` : "";
    throw new CommandError(`Nothing was imported${why}. \`ctxd import --help\` tells what can be.`);
  }
}

function reportFailed({ failed }: Totals): void {
  if (failed.length === 0) return;
  for (const { at, reason } of failed.slice(0, NAMED)) {
    say(`  ${printable(at)}: ${reason.replace(/\.$/, "")}`);
  }
  if (failed.length > NAMED) say(`  … and ${failed.length - NAMED} more`);
  const what = failed.length === 1 ? "1 place" : `${failed.length} places`;
  throw new CommandError(`What is at ${what} can't be imported.`);
}

/** A memory in one line. */
function excerpt({ content, project, session_id, created_at, tags = [] }: ImportedMemory): string {
  const text = content.replace(/\s+/g, " ").trim();
  const cut = text.length > EXCERPT ? `${text.slice(0, EXCERPT).trimEnd()}…` : text;
  const about = [
    created_at?.slice(0, 10),
    project,
    session_id ? `session ${session_id}` : null,
    ...tags.map((tag) => `#${tag}`),
  ].filter((part) => part !== null && part !== undefined);
  return printable(about.length === 0 ? cut : `${cut} (${about.join(", ")})`);
}
