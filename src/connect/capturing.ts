import { namingFile } from "./change.ts";
import { type Client, type HookKind, unlessDamaged } from "./client.ts";
import { CLIENTS } from "./clients.ts";
import { locate, readConfiguration, type Surroundings, surroundingsOf } from "./files.ts";
import { hooksIn } from "./hooks.ts";
import { kindsInPlugin } from "./plugins.ts";

/** The hooks that a client's settings contain now. */
export function hooksOf({ hooks, plugin }: Client, around: Surroundings): HookKind[] {
  const settings = hooks ?? plugin;
  if (!settings) return [];
  const path = locate(settings, around);
  return namingFile(path, () => {
    const { text } = readConfiguration(path);
    return hooks ? hooksIn(hooks, text) : kindsInPlugin(text);
  });
}

/** Ids of the connected clients whose hooks capture. */
export function capturingClients(env: Surroundings["env"]): string[] {
  const around = surroundingsOf(env);
  return CLIENTS.filter((client) => {
    const kinds = () => hooksOf(client, around);
    return unlessDamaged<readonly string[]>(kinds, []).includes("capture");
  }).map(({ id }) => id);
}
