import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Config } from "../config.ts";
import { createAsk, NoAnswer } from "../doctor/ask.ts";
import { CommandError } from "./failure.ts";
import { say } from "./terminal.ts";

/** Milliseconds after which a server that does not answer counts as failed. */
const TIMEOUT = 5_000;

const Health = Type.Object({
  status: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
});

/**
 * `ctxd health`: asks a running server how it is, by default the one that these settings describe.
 * @throws CommandError when it does not answer, or says that something has failed
 */
export async function checkHealth(config: Config, { url }: { url?: URL }): Promise<void> {
  const origin = (url ?? localAddress(config)).origin;
  // A certificate is made out to the public name, not to the loopback address.
  const ask = createAsk(origin, { timeout: TIMEOUT, anyCertificate: url === undefined });
  const { status, json } = await ask("/api/health").catch((error) => {
    if (!(error instanceof NoAnswer)) throw error;
    throw new CommandError(`No server answers at ${origin} (${error.code}).`);
  });
  if (!Value.Check(Health, json)) throw new CommandError(`${origin} answers, but is not ctxd.`);
  const line = `${origin}: ${json.status} (${describe(json.checks)})`;
  if (status !== 200) throw new CommandError(line);
  say(line);
}

/** Where this machine reaches the server: one that listens everywhere is reached by loopback. */
function localAddress({ host, port, tls }: Config): URL {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host.replace(/^\[|\]$/g, "");
  const name = address.includes(":") ? `[${address === "::" ? "::1" : address}]` : address;
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`);
}

function describe(checks: Record<string, string>): string {
  return Object.entries(checks)
    .map(([name, result]) => `${name} ${result}`)
    .join(", ");
}
