import type { Config } from "../../../config/config.ts";
import { unlessDamaged } from "../../../connect/client.ts";
import { CLIENTS } from "../../../connect/clients.ts";
import { locate, readConfiguration, type Surroundings } from "../../../connect/files.ts";
import { messageOf } from "../../../errors.ts";
import { postJson } from "../../hooks.ts";
import { askForKey } from "../../input.ts";
import {
  createRemoteServer,
  forgetServer,
  keptKey,
  keptServers,
  messageIn,
} from "../../server/remote-server.ts";
import { requireEncryption } from "../../server/url.ts";
import { CommandError, say } from "../../terminal.ts";
import type { Plan } from "./apply.ts";
import { type ConnectOptions, isBridged } from "./plan.ts";

/** Milliseconds that a person waits for the check of a key. */
const PATIENCE = { beginning: 10_000, end: 10_000 };

/**
 * The API key that the options need: asked for, or read from standard input; null when none is needed, or when the one
 * that is kept for the server serves. A server that agents will reach through ctxd must accept it.
 * @throws CommandError
 */
export async function keyFor(config: Config, options: ConnectOptions): Promise<string | null> {
  const { url, key: isWanted = false, print: isPrint } = options;
  const bridged = isBridged(options);
  if (!url || !(isWanted || bridged) || (bridged && isPrint)) return null;
  const kept = bridged && !isWanted ? keptKey(config, url) : null;
  if (kept === null) requireEncryption(url, config);
  const key = kept ?? (await askForKey());
  if (bridged) await checkKey(url, key);
  return kept === null ? key : null;
}

/** @throws CommandError when the server does not answer, or does not accept the key */
async function checkKey(url: URL, key: string): Promise<void> {
  const server = createRemoteServer(url, () => key, PATIENCE);
  const { headers, ...ping } = postJson({ jsonrpc: "2.0", id: 1, method: "ping" });
  const accept = "application/json, text/event-stream";
  const response = await server
    .request("/mcp", { ...ping, headers: { ...headers, accept } })
    .catch((error) => {
      throw new CommandError(messageOf(error));
    });
  if (!response.ok) throw new CommandError(await messageIn(response));
}

/**
 * Forgets what is kept for servers that the changed settings named, and that no agent's settings name now: their keys,
 * and what was not sent.
 */
export function forgetUnused(config: Config, plans: readonly Plan[], around: Surroundings): void {
  for (const url of keptServers(config)) {
    const named = new RegExp(`--url["'\\\\,\\s-]+${RegExp.escape(url.origin)}(?![\\w.:-])`);
    const wasNamed = plans.some(({ changes }) => changes.some(({ file }) => named.test(file.text)));
    if (!wasNamed || textsOfAgents(around).some((text) => named.test(text))) continue;
    forgetServer(config, url);
    say(`The API key for ${url.origin} is no longer kept on this machine.`);
  }
}

/** The settings of all agents, as far as they can be read. */
function textsOfAgents(around: Surroundings): string[] {
  return CLIENTS.flatMap((client) => [client, client.hooks, client.plugin])
    .filter((settings) => settings !== undefined)
    .map((settings) => unlessDamaged(() => readConfiguration(locate(settings, around)).text, ""));
}
