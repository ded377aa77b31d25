import { type Command, InvalidArgumentError } from "commander";
import { examples } from "./examples.ts";
import type { Configure } from "./program.ts";
import type { SecurityOptions } from "./security.ts";

export function addSecurity(program: Command, configure: Configure): void {
  program
    .command("security")
    .summary("show the security log: sign-ins, accounts, keys, apps, exports, deletions")
    .description(
      "Shows what has happened that matters for security, the newest first: sign-ins that worked and that failed, what was made, changed and revoked, and what was taken along.",
    )
    .option("--user <email>", "only what is about this account")
    .option("--event <name>", "only these events, such as sign_in_failed")
    .option("--address <ip>", "only what came from this address")
    .option("--limit <number>", "how many at the most (50)", parseLimit, 50)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples("ctxd security", "ctxd security --event sign_in_failed --limit 1000 --json"),
    )
    .action(async (options: SecurityOptions) =>
      (await import("./security.ts")).showSecurity(configure(), options),
    );
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number from 1 to 999999.");
}
