import { version } from "../../package.json" with { type: "json" };
import { type Config, ConfigError } from "../config.ts";
import { examine } from "../doctor/examine.ts";
import type { Finding } from "../doctor/finding.ts";
import { CommandError, type Environment } from "./failure.ts";
import { describeCommand } from "./invocation.ts";
import { print } from "./terminal.ts";

/**
 * `ctxd doctor`: one line per check.
 * @param configure reads the settings; that they are wrong is a finding too
 * @throws CommandError when there is a problem
 */
export async function runDoctor(
  configure: () => Config,
  { json }: { json?: boolean },
  env: Environment,
): Promise<void> {
  const findings: Finding[] = [];
  for await (const finding of examineAll(configure, env)) {
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
  yield* examine({ config, version, clock: Date.now, howToStart });
}

function formatLine({ check, state, message }: Finding): string {
  return `${state.padEnd(7)}  ${check}: ${message}`;
}
