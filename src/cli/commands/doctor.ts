import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/settings.ts";
import { capturingClients } from "../../connect/capturing.ts";
import { surroundingsOf } from "../../connect/files.ts";
import { distrustOfGemini } from "../../connect/folder-trust.ts";
import { checkAgents } from "../../doctor/agents.ts";
import { examine } from "../../doctor/examine.ts";
import { type Finding, findingsOf } from "../../doctor/finding.ts";
import { examineServer } from "../../doctor/remote/examine-server.ts";
import { describeCommand } from "../../server/invocation.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { askForKey } from "../input.ts";
import { parseOrigin } from "../server/url.ts";
import { CommandError, print, printable, printJson, usageError } from "../terminal.ts";
import { clientStates } from "./connect/list.ts";

interface DoctorOptions {
  json?: boolean;
  /** A remote server to check instead of this machine. */
  url?: URL;
  /** Whether to test an API key there. */
  key?: boolean;
}

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("doctor")
    .summary(
      "check data, disk, model, port, clock and connected agents, or a remote server, and say how to fix problems",
    )
    .description(
      "Checks everything that a server needs, prints one line for each check, and says how to fix what is wrong. It changes nothing. The exit code is 0 if there is no problem. It reads all memories only while the server is stopped. Each agent that is connected, and whose program is in PATH, is asked by its own command, such as claude mcp list, whether it reaches ctxd; it starts ctxd for that. No other program is run.",
    )
    .option(
      "--url <url>",
      "check a remote server, as agents reach it, instead of this machine",
      parseOrigin,
    )
    .option(
      "--key",
      "with --url: test an API key too (asked for, or read as one line of standard input)",
    )
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd doctor", "ctxd doctor --url https://memory.example.com"))
    .action((options: DoctorOptions) => runDoctor(configure, options, env));
}

/**
 * `ctxd doctor`: prints one line per check.
 * @param configure reads the settings; an invalid setting is a finding too
 * @throws CommandError when a check finds a problem
 */
async function runDoctor(
  configure: () => Config,
  { json, url, key }: DoctorOptions,
  env: Environment,
): Promise<void> {
  if (key && !url) throw usageError("--key needs --url.");
  const findings: Finding[] = [];
  const examined = url
    ? examineServer({ url, key: key ? await askForKey() : null, clock: Date.now })
    : examineAll(configure, env);
  for await (const finding of examined) {
    findings.push(finding);
    if (!json) await print(formatLine(finding));
  }
  const problems = findings.filter(({ state }) => state === "problem").length;
  if (json) {
    await printJson({ ok: problems === 0, version, checks: findings });
  }
  if (problems > 0) throw new CommandError(problems === 1 ? "1 problem." : `${problems} problems.`);
}

async function* examineAll(configure: () => Config, env: Environment): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = configure();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return yield { check: "settings", state: "problem", message: error.message };
  }
  const surroundings = surroundingsOf(env);
  yield* examine(config, describeCommand("serve", config, env), capturingClients(env));
  const distrust = distrustOfGemini(process.cwd(), surroundings);
  if (distrust) yield findingsOf("agents").warning(distrust);
  // After the checks of the data, because an agent may start the server.
  const connected = clientStates(env).filter(({ state }) => state === "connected");
  const clients = connected.map(({ client }) => client);
  yield* checkAgents(clients, surroundings);
}

function formatLine({ check, state, message }: Finding): string {
  return printable(`${state.padEnd(7)}  ${check}: ${message}`);
}
