import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../config.ts";
import type { Environment } from "./failure.ts";
import { describeCommand } from "./invocation.ts";
import { say } from "./terminal.ts";

/**
 * Tells the person who started the server where to go next.
 * @param address where the server is, for a browser on this machine
 */
export function greet(
  config: Config,
  env: Environment,
  { address, isEmpty }: { address: string; isEmpty: boolean },
): void {
  say(`ctxd ${version} is listening on ${address} (Ctrl-C stops it)`);
  say(`  API page  ${address}/docs`);
  say(`  data      ${config.dataDir}`);
  if (!isEmpty) return;
  say("\nThere is no account yet. In another terminal, make one and an API key for it:");
  say(`  ${describeCommand("user add you@example.com", config, env)}`);
  say(`  ${describeCommand("key create --user you@example.com --name laptop", config, env)}`);
}
