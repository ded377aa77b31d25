import type { Config } from "../config.ts";
import { CommandError } from "./failure.ts";
import { say } from "./terminal.ts";

/** Milliseconds after which a server that does not answer counts as failed. */
const TIMEOUT = 5_000;

/**
 * `ctxd health`: asks a running server how it is, by default the one that these settings describe.
 * @throws CommandError when it does not answer, or says that something has failed
 */
export async function checkHealth(config: Config, { url }: { url?: URL }): Promise<void> {
  const origin = (url ?? localAddress(config)).origin;
  const response = await request(new URL("/api/health", origin), url === undefined);
  const answer = readAnswer(await response.text());
  if (answer === null) throw new CommandError(`${origin} answers, but is not ctxd.`);
  const line = `${origin}: ${answer.status} (${describe(answer.checks)})`;
  if (!response.ok) throw new CommandError(line);
  say(line);
}

/** Where this machine reaches the server: one that listens everywhere is reached by loopback. */
function localAddress({ host, port, tls }: Config): URL {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host.replace(/^\[|\]$/g, "");
  const name = address.includes(":") ? `[${address === "::" ? "::1" : address}]` : address;
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`);
}

async function request(address: URL, isLocal: boolean): Promise<Response> {
  try {
    return await fetch(address, {
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
      // A certificate is made out to the public name, not to the loopback address.
      tls: { rejectUnauthorized: !isLocal },
    });
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
    throw new CommandError(`No server answers at ${address.origin} (${reason}).`);
  }
}

function readAnswer(text: string): { status: string; checks: object } | null {
  try {
    const { status, checks } = JSON.parse(text);
    return typeof status === "string" && checks instanceof Object ? { status, checks } : null;
  } catch {
    return null;
  }
}

function describe(checks: object): string {
  return Object.entries(checks)
    .map(([name, result]) => `${name} ${result}`)
    .join(", ");
}
