import type { Command } from "commander";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import type { Configure } from "./program.ts";

/** The commands that have the system run the server. */
export function addServiceCommands(program: Command, configure: Configure, env: Environment): void {
  const service = program
    .command("service")
    .summary("have the system run the server from your log-in on")
    .description(
      "Has the system run the server: systemd on Linux, launchd on macOS, a task at log-in on Windows. No root needed.",
    );
  service
    .command("install")
    .summary("start the server now, and whenever you log in")
    .description(
      "Writes the description of the service, says where, and starts it. It has the settings (CTXD_…) that the terminal has now; install again to change them.",
    )
    .addHelpText("after", examples("ctxd service install"))
    .action(async () => (await import("./service.ts")).installService(configure(), env));
  service
    .command("uninstall")
    .summary("stop it, and start it no more; the data stays")
    .action(async () => (await import("./service.ts")).uninstallService(configure(), env));
  service
    .command("status")
    .summary("whether it is installed and runs; also by the exit code")
    .action(async () => (await import("./service.ts")).showService(env));
  // What a task of Windows starts, which has no environment of its own.
  service.command("run <file>", { hidden: true }).action(async (file: string) => {
    const { runService } = await import("./run-service.ts");
    await runService(file, configure, env);
  });
}
