import * as http from "node:http";
import * as https from "node:https";
import { text } from "node:stream/consumers";
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
  const { status, body } = await request(new URL("/api/health", origin), url === undefined);
  const answer = readAnswer(body);
  if (answer === null) throw new CommandError(`${origin} answers, but is not ctxd.`);
  const line = `${origin}: ${answer.status} (${describe(answer.checks)})`;
  if (status !== 200) throw new CommandError(line);
  say(line);
}

/** Where this machine reaches the server: one that listens everywhere is reached by loopback. */
function localAddress({ host, port, tls }: Config): URL {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host.replace(/^\[|\]$/g, "");
  const name = address.includes(":") ? `[${address === "::" ? "::1" : address}]` : address;
  return new URL(`${tls ? "https" : "http"}://${name}:${port}`);
}

interface Answer {
  status: number;
  body: string;
}

/** Not by fetch, which asks the proxy that HTTP_PROXY names for this machine's own address too. */
function request(address: URL, isLocal: boolean): Promise<Answer> {
  const { get } = address.protocol === "https:" ? https : http;
  // A certificate is made out to the public name, not to the loopback address.
  const options = { signal: AbortSignal.timeout(TIMEOUT), rejectUnauthorized: !isLocal };
  return new Promise<Answer>((resolve, reject) => {
    const call = get(address, options, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    call.once("error", reject);
  }).catch((cause) => {
    const reason = cause instanceof Error && "code" in cause ? cause.code : cause;
    throw new CommandError(`No server answers at ${address.origin} (${reason}).`);
  });
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
