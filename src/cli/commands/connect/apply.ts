import type { Client } from "../../../connect/client.ts";
import { describeChange, hideKeys } from "../../../connect/diff.ts";
import {
  isReadByOthers,
  removeConfiguration,
  replaceConfiguration,
} from "../../../connect/files.ts";
import { findHookAgent } from "../../../connect/hook-agents.ts";
import { toShell } from "../../../system/shell.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import { confirm, isInteractive, say } from "../../terminal.ts";
import type { ConnectOptions } from "./options.ts";
import { type Change, WITH_HOOKS } from "./plan.ts";

/** The changes for one client. */
export interface Plan {
  client: Client;
  changes: Change[];
}

/** Shows all changes, asks once, and applies them. */
export async function applyPlans(
  plans: readonly Plan[],
  options: ConnectOptions,
  key: string | null,
) {
  const [wanted, same] = [plans.filter(isChange), plans.filter((plan) => !isChange(plan))];
  for (const { client } of same) {
    const state = options.remove ? "is not connected" : "is already connected like this";
    say(`${client.name} ${state}: nothing to change.`);
  }
  if (wanted.length === 0) return;
  for (const { file, text } of wanted.flatMap(({ changes }) => changes)) {
    say(`${file.path}${file.exists ? "" : " (a new file)"}\n${describeChange(file.text, text)}\n`);
  }
  await requireConsent(options);
  for (const { client, changes } of wanted) {
    for (const change of changes) apply(change, key);
    say(describeOutcome(client, options, key));
  }
  if (!options.remove && !options.url && process.execPath.includes("/_npx/")) {
    say(
      "This Bun is in the cache of npx, which may be emptied: install Bun, or build the executable.",
    );
  }
}

function isChange({ changes }: Plan): boolean {
  return changes.length > 0;
}

async function requireConsent({ yes }: ConnectOptions): Promise<void> {
  if (yes) return;
  if (!isInteractive()) {
    throw new CommandError("Nothing was changed: without a terminal this needs --yes.", USAGE);
  }
  if (!(await confirm("Make these changes?"))) throw new CommandError("Nothing was changed.");
}

function apply({ file, text, isRemoval }: Change, key: string | null): void {
  if (isRemoval) {
    removeConfiguration(file);
    say(`Removed ${file.path}.`);
    return;
  }
  const copy = replaceConfiguration(file, text);
  say(`Wrote ${file.path}.${copy ? ` A copy of the old file: ${copy}` : ""}`);
  if (copy && hideKeys(file.text) !== file.text) say("That copy still contains an API key.");
  if (key !== null && isReadByOthers(file.path)) {
    say(`Other users of this machine can read the key in it: chmod 600 ${toShell([file.path])}`);
  }
}

function describeOutcome(
  client: Client,
  { url, remove, recall, capture }: ConnectOptions,
  key: string | null,
): string {
  if (remove) return `${client.name} is disconnected from its next start.`;
  if (!url) {
    const { note } = findHookAgent(client.id) ?? {};
    const hasHooks = WITH_HOOKS.includes(client.id);
    return [
      `${client.name} is connected to the memory on this machine: ${client.reload}.`,
      capture &&
        hasHooks &&
        "Its conversations are saved for 90 days, running ones from their beginning; --no-capture stops that.",
      (recall || capture) && !hasHooks && "It has no hooks, so it can use the tools only.",
      (recall || capture) && note,
    ]
      .filter(Boolean)
      .join("\n");
  }
  const signIn = key === null ? ` Then ${client.signIn}.` : "";
  return `${client.name} is connected to ${url.origin}: ${client.reload}.${signIn}`;
}
