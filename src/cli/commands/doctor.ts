import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import type { Config } from "../../config.ts";
import { examine } from "../../doctor/examine.ts";
import type { Finding } from "../../doctor/finding.ts";
import { examineServer } from "../../doctor/remote/examine-server.ts";
import { describeCommand } from "../../server/invocation.ts";
import { explainUnavailable } from "../../server/shared-database.ts";
import { ConfigError } from "../../settings.ts";
import { askForKey } from "../ask-for-key.ts";
import { askLocally } from "../ask-locally.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { printable } from "../printable.ts";
import { print } from "../terminal.ts";
import { parseOrigin } from "../url.ts";

interface DoctorOptions {
  json?: boolean;
  /** A server elsewhere, to be looked at in place of this machine. */
  url?: URL;
  /** Whether to try an API key there. */
  key?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("doctor")
    .summary(
      "check data, disk, model, port and clock, or a server elsewhere, and say how to mend them",
    )
    .description(
      "Checks everything that a server needs, one line each, and says how to mend what is wrong. Changes nothing. The exit code is 0 when there is no problem. Stop the server to have all memories read.",
    )
    .option(
      "--url <url>",
      "check a server as agents elsewhere meet it, in place of this machine",
      parseOrigin,
    )
    .option("--key", "with --url: try an API key too (asked for, or a line of standard input)")
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd doctor", "ctxd doctor --url https://memory.example.com"))
    .action((options: DoctorOptions) => runDoctor(configure, options, env));
}

/**
 * `ctxd doctor`: one line per check.
 * @param configure reads the settings; that they are wrong is a finding too
 * @throws CommandError when there is a problem
 */
async function runDoctor(
  configure: () => Config,
  { json, url, key }: DoctorOptions,
  env: Environment,
): Promise<void> {
  if (key && !url) throw new CommandError("--key goes with --url.", USAGE);
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
    await print(JSON.stringify({ ok: problems === 0, version, checks: findings }, null, 2));
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
  const howToStart = describeCommand("serve", config, env);
  const ask = askLocally(config.dataDir);
  yield* examine({
    ...{ config, version, clock: Date.now, howToStart, askLocally: ask },
    explainDatabase: explainUnavailable,
  });
}

function formatLine({ check, state, message }: Finding): string {
  return printable(`${state.padEnd(7)}  ${check}: ${message}`);
}
