import type { Command } from "commander";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { Configure } from "./program.ts";
import type { UpgradeOptions } from "./upgrade.ts";

/** The command that tells how the program gets newer. */
export function addUpgrade(program: Command, configure: Configure, env: Environment): void {
  program
    .command("upgrade")
    .summary("what is new in this version, and how it is upgraded where it was installed")
    .description(
      "Says what is new in this version, how it was installed, and what upgrades it there. Asks the network for nothing: only --check and --install do, and nothing else in ctxd looks for newer versions.",
    )
    .option("--check", "ask which release is the newest, and what is new in it")
    .option(
      "--install",
      "download the newest release, compare its SHA-256, and put it in the place of this executable; the former one stays beside it, and nothing is restarted",
    )
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd upgrade", "ctxd upgrade --check"))
    .action(async (options: UpgradeOptions) =>
      (await import("./upgrade.ts")).runUpgrade(configure(), options, env),
    );
}
