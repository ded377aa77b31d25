import { version } from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import type { SharedSettings } from "../config/shared-settings.ts";
import { describeCommand } from "../server/invocation.ts";
import type { Environment } from "./context.ts";
import { say } from "./terminal.ts";

/**
 * Prints the server's addresses and the next steps.
 * @param address the server's address for a browser on this machine
 * @param setUp the link that creates the owner's account; null if the server has an owner
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
    say(`To create the account and a key in a browser, open\n  ${setUp}\nor use another terminal:`);
  } else say("Create the account and a key in another terminal:");
  say(`  ${describeCommand("user add you@example.com", config, env)}`);
  say(`  ${describeCommand("key create --user you@example.com --name laptop", config, env)}`);
}

/** The database and the bucket that several servers share, without the password. */
function describeShared({ databaseUrl, objects }: SharedSettings): string {
  const { host, pathname } = new URL(databaseUrl);
  return `postgres://${host}${pathname}, s3://${[objects.bucket, objects.prefix].filter(Boolean).join("/")}`;
}
