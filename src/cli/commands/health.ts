import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { isLocked, readOwner } from "../../db/data-lock.ts";
import {
  createSend,
  LOCAL_TIMEOUT_MS,
  NoAnswer,
  type Send,
  sendLocally,
} from "../../doctor/send.ts";
import { HealthAnswer, localAddress } from "../../doctor/server.ts";
import { SOCKET } from "../../system/folders.ts";
import { type Context, examples } from "../context.ts";
import { parseUrl } from "../server/url.ts";
import { CommandError, printJson, say } from "../terminal.ts";

export function define(program: Command, { configure }: Context): void {
  program
    .command("health")
    .summary("ask a running server whether it works")
    .description(
      "Asks a running server whether it works. Prints one line; the exit code is 0 or 1. Without --url it asks the server of the data folder, at whatever address it listens, or else the address of the settings.",
    )
    .option("--url <url>", "the server's address, such as https://memory.example.com", parseUrl)
    .option("--json", "print the server's answer, as JSON")
    .addHelpText("after", examples("ctxd health", "ctxd health --url https://memory.example.com"))
    .action((options: { url?: URL; json?: boolean }) => checkHealth(configure(), options));
}

/**
 * `ctxd health`: asks a running server for its health.
 * @throws CommandError when the server does not answer, or when one of its checks has failed
 */
async function checkHealth(
  config: Config,
  { url, json: asJson = false }: { url?: URL; json?: boolean },
): Promise<void> {
  const { where, send } = url === undefined ? ownServer(config) : serverAt(url.origin, false);
  const { status, json } = await send("/api/health").catch((error) => {
    if (!(error instanceof NoAnswer)) throw error;
    throw new CommandError(
      `No server answers at ${where} (${error.code}): ${url ? "check the address" : "ctxd serve starts one"}.`,
    );
  });
  if (!Value.Check(HealthAnswer, json))
    throw new CommandError(`${where} answers, but is not ctxd.`);
  if (asJson) await printJson(json);
  const line = `${where}: ${json.status} (${describe(json.checks)})`;
  if (status !== 200) throw new CommandError(line);
  if (!asJson) say(line);
}

function ownServer(config: Config): { where: string; send: Send } {
  const { dataDir } = config;
  // Works on any port and without one: a server in the background has no port at first.
  if (isLocked(dataDir)) {
    const where = readOwner(dataDir)?.address ?? join(dataDir, SOCKET);
    return { where, send: sendLocally(dataDir) };
  }
  // The certificate names the public host, not the loopback address.
  return serverAt(new URL(localAddress(config)).origin, true);
}

function serverAt(origin: string, anyCertificate: boolean): { where: string; send: Send } {
  return { where: origin, send: createSend(origin, { timeout: LOCAL_TIMEOUT_MS, anyCertificate }) };
}

function describe(checks: Record<string, string>): string {
  return Object.entries(checks)
    .map(([name, result]) => `${name} ${result}`)
    .join(", ");
}
