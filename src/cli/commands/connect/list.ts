import { hooksOf } from "../../../connect/capturing.ts";
import { type Client, unlessDamaged } from "../../../connect/client.ts";
import { CLIENTS } from "../../../connect/clients.ts";
import { readEntry } from "../../../connect/entry.ts";
import {
  isInstalled,
  locate,
  readConfiguration,
  type Surroundings,
  surroundingsOf,
} from "../../../connect/files.ts";
import { hasPlugin } from "../../../connect/plugins.ts";
import type { Environment } from "../../context.ts";
import { printTable, say } from "../../terminal.ts";

/** The states of clients, in the order in which clients are listed. */
const STATES = ["connected", "damaged file", "not connected", "not found"] as const;
type State = (typeof STATES)[number];

/** `ctxd connect` without a client: lists all clients with their states. */
export async function listClients(env: Environment): Promise<void> {
  const surroundings = surroundingsOf(env);
  const rows = clientStates(env)
    .sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))
    .map(({ client, path, state }) => {
      const kinds = () => hooksOf(client, surroundings);
      const hooks = state === "connected" ? unlessDamaged(kinds, ["damaged hooks"]) : [];
      const plugin = hasPlugin(client, surroundings) ? ["plugin"] : [];
      return [client.id, client.name, [state, ...plugin, ...hooks].join(", "), path];
    });
  await printTable(["CLIENT", "NAME", "STATE", "FILE"], rows);
  say(
    "\nctxd connect NAME connects one, such as claude-code. ctxd connect --all connects all that are found.",
  );
}

/** All clients with the paths of their files and their states. */
export function clientStates(env: Environment): { client: Client; path: string; state: State }[] {
  const surroundings = surroundingsOf(env);
  return CLIENTS.map((client) => {
    const path = locate(client, surroundings);
    return { client, path, state: stateOf(client, path, surroundings) };
  });
}

/** The clients that are installed on this machine. */
export function installedClients(env: Environment): Client[] {
  const surroundings = surroundingsOf(env);
  return CLIENTS.filter((client) => isInstalled(client, surroundings));
}

function stateOf(client: Client, path: string, surroundings: Surroundings): State {
  return unlessDamaged((): State => {
    if (readEntry(client, readConfiguration(path).text)) return "connected";
    if (hasPlugin(client, surroundings)) return "connected";
    return isInstalled(client, surroundings) ? "not connected" : "not found";
  }, "damaged file");
}
