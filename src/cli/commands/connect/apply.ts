import { applyChange, type Change } from "../../../connect/change.ts";
import type { Client } from "../../../connect/client.ts";
import { describeChange, hideKeys } from "../../../connect/diff.ts";
import { isReadByOthers, removeFolders, type Surroundings } from "../../../connect/files.ts";
import { distrustOf } from "../../../connect/folder-trust.ts";
import { toShell } from "../../../system/shell.ts";
import { CommandError, confirm, isInteractive, say, usageError } from "../../terminal.ts";
import { type ConnectOptions, describeSkipped, hasHooks, isBridged } from "./plan.ts";

/** The changes for one client. */
export interface Plan {
  client: Client;
  changes: Change[];
}

/** Shows all changes, asks once, and applies them. */
export async function applyPlans(
  plans: readonly Plan[],
  options: ConnectOptions,
  { key, around }: { key: string | null; around: Surroundings },
) {
  const wanted = plans.filter(({ changes }) => changes.length > 0);
  for (const { client, changes } of plans) {
    if (changes.length === 0) say(describeUnchanged(client, options));
  }
  if (wanted.length === 0) return warnOfDistrust(plans, around);
  for (const change of wanted.flatMap(({ changes }) => changes)) preview(change);
  if (!options.yes) {
    if (!isInteractive()) {
      throw usageError("Nothing was changed: without a terminal this needs --yes.");
    }
    if (!(await confirm("Make these changes?"))) throw new CommandError("Nothing was changed.");
  }
  for (const { client, changes } of wanted) {
    for (const change of changes) apply(change, key);
    say(describeOutcome(client, options, key));
  }
  const free = wanted.flatMap(({ changes }) => changes).filter(({ isFree }) => isFree);
  removeFolders(
    free.map(({ file }) => file),
    options.remove === true,
  );
  warnOfDistrust(plans, around);
  if (!options.remove && !options.url && process.execPath.includes("/_npx/")) {
    say(
      "This Bun is in the cache of npx, which may be emptied: install Bun, or build the executable.",
    );
  }
}

function preview({ file, text, isRemoval, copies }: Change): void {
  const what = isRemoval ? " (removed)" : file.exists ? "" : " (a new file)";
  if (text !== file.text) say(`${file.path}${what}\n${describeChange(file.text, text)}\n`);
  for (const { path } of copies) say(`${path} (a copy, removed)\n`);
}

function warnOfDistrust(plans: readonly Plan[], around: Surroundings): void {
  for (const { client } of plans) {
    const warning = distrustOf(client, process.cwd(), around);
    if (warning) say(warning);
  }
}

function describeUnchanged(client: Client, options: ConnectOptions): string {
  const state = options.remove ? "is not connected" : "is already connected like this";
  const skipped = describeSkipped(client, options);
  return `${client.name} ${state}: nothing to change.${skipped ? `\n${skipped}` : ""}`;
}

function apply(change: Change, key: string | null): void {
  applyChange(change);
  const { file, text, isRemoval, copy, copies } = change;
  if (isRemoval) say(`Removed ${file.path}.`);
  else if (text !== file.text) {
    say(`Wrote ${file.path}.${copy ? ` A copy of the old file: ${copy}` : ""}`);
    if (copy && hideKeys(file.text) !== file.text) say("That copy still contains an API key.");
    if (key !== null && isReadByOthers(file.path)) {
      say(`Other users of this machine can read the key in it: chmod 600 ${toShell([file.path])}`);
    }
  }
  for (const { path } of copies) say(`Removed the copy ${path}.`);
}

function describeOutcome(client: Client, options: ConnectOptions, key: string | null): string {
  const { url, remove, recall, capture } = options;
  if (remove) return `${client.name} is disconnected from its next start.`;
  const server = url ? url.origin : "the memory on this machine";
  const signIn = url && !isBridged(options) && key === null ? ` Then ${client.signIn}.` : "";
  return [
    `${client.name} is connected to ${server}: ${client.reload}.${signIn}`,
    capture &&
      hasHooks(client) &&
      "Its conversations are saved for 90 days, running ones from their beginning; --no-capture stops that.",
    (recall || capture) && client.hooks?.note,
    describeSkipped(client, options),
  ]
    .filter(Boolean)
    .join("\n");
}
