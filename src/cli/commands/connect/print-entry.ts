import { type Client, type Fields, placeOn } from "../../../connect/client.ts";
import { findHookAgent, type HookKind } from "../../../connect/hook-agents.ts";
import { writeHooks } from "../../../connect/hooks.ts";
import { renderEntry } from "../../../connect/render.ts";
import { print, say } from "../../terminal.ts";
import type { Wanted } from "./plan.ts";

/** Prints the settings, for a user who edits the files by hand. */
export async function printEntry(client: Client, entry: Fields, { hooks, commandOf }: Wanted) {
  await print(renderEntry(client, entry));
  say(`Add this to ${pathOf(client.file)}.`);
  const agent = findHookAgent(client.id);
  const commandFor = (kind: HookKind) => (hooks[kind] ? commandOf(kind) : null);
  const commands = { recall: commandFor("recall"), capture: commandFor("capture") };
  if (!agent || (commands.recall ?? commands.capture) === null) return;
  await print(writeHooks(agent, "", commands).trimEnd());
  say(`Add this to ${pathOf(agent.settings.file)}.`);
}

/** The path of a file on this system, in the form that people write. */
function pathOf(file: Client["file"]): string {
  return placeOn(process.platform, file) ?? file.linux;
}
