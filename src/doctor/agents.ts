import { delimiter, isAbsolute } from "node:path";
import { type Client, SERVER_NAME } from "../connect/client.ts";
import { hideKeys } from "../connect/diff.ts";
import type { Surroundings } from "../connect/files.ts";
import { runBriefly } from "../system/processes.ts";
import { startingScript } from "../system/shell.ts";
import { showHidden } from "../text/plain-text.ts";
import { excerpt } from "../text/short-text.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Milliseconds after which an agent's check is ended. Some agents need ten seconds to start. */
const TIMEOUT_MS = 30_000;
/** Bytes of a check's output that are read. */
const MAX_BYTES = 64 << 10;
/** Characters of a check's output that a finding quotes. */
const MAX_QUOTED = 160;

/** The checks run in the home folder: a project's folder may name other servers. */
type Place = Pick<Surroundings, "env" | "home"> & { timeoutMs?: number };

/**
 * Lets connected agents say whether they reach ctxd. Their checks run at the same time, and never fail or delay
 * the doctor beyond their time limit.
 */
export async function* checkAgents(
  clients: readonly Client[],
  place: Place,
): AsyncGenerator<Finding> {
  if (clients.length === 0) yield findingsOf("agents").ok("none is connected (ctxd connect)");
  for (const finding of clients.map((client) => checkAgent(client, place))) {
    yield await finding;
  }
}

async function checkAgent(
  client: Client,
  { env, home, timeoutMs = TIMEOUT_MS }: Place,
): Promise<Finding> {
  const { ok, warning } = findingsOf("agent");
  const { name, checkCommand } = client;
  if (!checkCommand) return ok(`${name} is connected, and has no command that checks it`);
  const words = checkCommand.split(" ");
  const first = words.findIndex((word) => !word.includes("="));
  const variables = words.slice(0, first).map((word) => word.split("="));
  const [program = "", ...args] = words.slice(first);
  const command = words.slice(first).join(" ");
  // Not from a folder that is relative to the current one.
  const PATH = (env.PATH ?? "").split(delimiter).filter(isAbsolute).join(delimiter);
  const path = Bun.which(program, { PATH });
  if (path === null) return ok(`${name} is connected, and ${program} is not installed here`);
  try {
    const { text, end, exitCode } = await runBriefly(
      startingScript([path, ...args]),
      { timeoutMs, maxBytes: MAX_BYTES },
      { cwd: home, env: { ...env, ...Object.fromEntries(variables), NO_COLOR: "1", TERM: "dumb" } },
    );
    const lines = Bun.stripANSI(text).split(/\r?\n/);
    const answer = lines.findIndex((line) => OURS.test(line));
    if (answer >= 0) return judge(client, lines.slice(answer, answer + 2));
    if (end === "timeout") {
      return warning(`${name} does not answer: ${command} did not end in ${timeoutMs / 1000} s.`);
    }
    if (end === "length") return warning(`${name} does not answer: ${command} prints too much.`);
    if (exitCode !== 0) {
      return warning(`${name} does not answer: ${command} failed (${quote(lines)}).`);
    }
    return warning(
      `${name} does not list ctxd, although its settings have it: start it again, then try ${command}.`,
    );
  } catch (error) {
    return warning(`${name} does not answer: ${command} can't be started (${reasonOf(error)}).`);
  }
}

/** The name of ctxd's entry, not in a path. */
const OURS = new RegExp(`(?<![\\w./\\\\-])${SERVER_NAME}(?![\\w./\\\\-])`);

/** What agents say about a server, in the order in which it is looked for. */
const STATES = {
  signIn:
    /(?:needs?|requires) [\w ]{0,40}(auth|registration|sign|log)|not logged in|unauth|sign[- ]?in/i,
  off: /disabled|untrusted/i,
  failed: /fail|disconnected|not connected|error|timed? ?out|unreachable|[✗✘×]/i,
  connected: /\bconnected|\bready|\d tools|[✓✔]/i,
};

/** @param lines the line that names ctxd, and the next one */
function judge(client: Client, [line = "", next = ""]: readonly string[]): Finding {
  const { ok, warning, problem } = findingsOf("agent");
  const { id, name, signIn } = client;
  // Paths and addresses say nothing about its state.
  const said = line.replaceAll(/\S+/g, (word) => (/[/\\]/.test(word) ? "" : word));
  // OpenCode gives the reason in the next line.
  const lines = /^[\s│]/.test(next) ? [said, next.replace("│", "")] : [said];
  if (STATES.signIn.test(said)) return warning(`${name} has to sign in to ctxd: ${signIn}.`);
  if (STATES.off.test(said)) return warning(`${name} has ctxd switched off (${quote(lines)}).`);
  if (STATES.failed.test(said)) {
    // Some agents do not tell a server that needs a sign-in from one that does not answer.
    const remedy = /https?:/.test(line)
      ? `${signIn}, or check the server with ctxd doctor --url`
      : `run ctxd connect ${id} again`;
    return problem(`${name} can't reach ctxd (${quote(lines)}): ${remedy}.`);
  }
  if (STATES.connected.test(said)) return ok(`${name} reaches ctxd`);
  return ok(`${name} lists ctxd, without trying to reach it`);
}

/** The beginning of what a program printed, on one line, safe for a terminal and without keys. */
function quote(lines: readonly string[]): string {
  const text = showHidden(hideKeys(lines.join(" ").replaceAll(/\s+/g, " ").trim()));
  if (text === "") return "it printed nothing";
  return `“${excerpt(text, MAX_QUOTED)}”`;
}
