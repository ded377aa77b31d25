import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../config.ts";
import { examine } from "../doctor/examine.ts";
import type { Finding } from "../doctor/finding.ts";
import { examineServer } from "../doctor/remote/examine-server.ts";
import { describeCommand } from "../server/invocation.ts";
import { explainUnavailable } from "../server/shared-database.ts";
import { ConfigError } from "../settings.ts";
import { askForKey } from "./ask-for-key.ts";
import { askLocally } from "./ask-locally.ts";
import { CommandError, type Environment, USAGE } from "./failure.ts";
import { printable } from "./printable.ts";
import { print } from "./terminal.ts";

export interface DoctorOptions {
  json?: boolean;
  /** A server elsewhere, to be looked at in place of this machine. */
  url?: URL;
  /** Whether to try an API key there. */
  key?: boolean;
}

/**
 * `ctxd doctor`: one line per check.
 * @param configure reads the settings; that they are wrong is a finding too
 * @throws CommandError when there is a problem
 */
export async function runDoctor(
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
