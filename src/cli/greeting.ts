import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../config.ts";
import { describeCommand } from "../server/invocation.ts";
import type { SharedSettings } from "../shared-settings.ts";
import type { Environment } from "./context.ts";
import { say } from "./terminal.ts";

/**
 * Tells the person who started the server where to go next.
 * @param address where the server is, for a browser on this machine
 * @param setUp where to make the owner's account; null when there is one
 */
export function greet(
  config: Config,
  env: Environment,
  { address, setUp }: { address: string; setUp: string | null },
): void {
  say(`ctxd ${version} is listening on ${address} (Ctrl-C stops it)`);
  say(`  dashboard ${address}`);
  say(`  API page  ${address}/docs`);
  if (config.shared) {
    say(`  data      ${describeShared(config.shared)}`);
    say(`  copies    ${config.dataDir}`);
  } else say(`  data      ${config.dataDir}`);
  if (setUp === null) return;
  say("\nThis server has no owner yet.");
  if (config.registration !== "closed") {
    say(
      `To make the account and a key in a browser, open\n  ${setUp}\nor do it in another terminal:`,
    );
  } else say("Make the account and a key in another terminal:");
  say(`  ${describeCommand("user add you@example.com", config, env)}`);
  say(`  ${describeCommand("key create --user you@example.com --name laptop", config, env)}`);
}

/** Where the data are that several servers share; there is a password in the address. */
function describeShared({ databaseUrl, objects }: SharedSettings): string {
  const { host, pathname } = new URL(databaseUrl);
  return `postgres://${host}${pathname}, s3://${[objects.bucket, objects.prefix].filter(Boolean).join("/")}`;
}
