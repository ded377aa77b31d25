import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { distance } from "fastest-levenshtein";
import { createLog } from "../log.ts";
import type { Started } from "../server/serve.ts";
import { SETTINGS } from "../settings.ts";
import type { DashboardOptions } from "./dashboard.ts";
import type { DoctorOptions } from "./doctor.ts";
import { examples } from "./examples.ts";
import type { Environment } from "./failure.ts";
import { greet } from "./greeting.ts";
import type { Configure } from "./program.ts";
import { parseOrigin, parseUrl } from "./url.ts";

interface ServeOptions {
  host?: string;
  port?: string;
  background?: number;
}

export function addServe(program: Command, configure: Configure, env: Environment): void {
  program
    .command("serve", { isDefault: true })
    .summary("run the server (what ctxd does without a command)")
    .description(
      "Runs the server until it is told to stop (Ctrl-C or SIGTERM). The dashboard is at its address, http://localhost:7733 by default.\nIt takes over from a server that agents run in the background.",
    )
    .option("--host <address>", "address to listen on (CTXD_HOST, 127.0.0.1)")
    .option("--port <number>", "port to listen on (CTXD_PORT, 7733)")
    .addOption(
      new Option("--background <seconds>", "end after so many seconds without a client")
        .argParser(parseSeconds)
        .hideHelp(),
    )
    .addHelpText("after", examples("ctxd", "ctxd serve --port 8080"))
    .addHelpText("after", `\nSettings, from the environment:\n${describeSettings()}`)
    .allowExcessArguments()
    .action(async ({ host, port, background }: ServeOptions, command: Command) => {
      // As serve is the default command, a command that does not exist arrives here.
      const [unknown] = command.args;
      if (unknown !== undefined) refuseCommand(program, unknown);
      const config = configure({
        ...(host === undefined ? {} : { CTXD_HOST: host }),
        ...(port === undefined ? {} : { CTXD_PORT: port }),
      });
      const { serve } = await import("../server/serve.ts");
      const onStart = (started: Started) => greet(config, env, started);
      if (background === undefined) return serve(config, createLog(config), { env, onStart });
      const { createLogFile } = await import("../server/log-file.ts");
      const log = createLog(config, createLogFile(join(config.dataDir, "background.log")));
      await serve(config, log, { env, onStart, background: { idleSeconds: background } });
    });
}

/** Letters that may be wrong in the name of a command. */
const WRONG = 2;

/** Says that there is no such command, and which one is nearest. */
function refuseCommand(program: Command, word: string): never {
  const [nearest] = program
    .createHelp()
    .visibleCommands(program)
    .flatMap((each) => [each.name(), ...each.aliases()])
    .map((name) => ({ name, wrong: distance(word, name) }))
    .filter(({ name, wrong }) => wrong <= WRONG && wrong < name.length / 2)
    .sort((a, b) => a.wrong - b.wrong);
  const hint = nearest ? `\n(Did you mean ${nearest.name}?)` : "";
  return program.error(`error: unknown command '${word}'${hint}`);
}

export function addMigrate(program: Command, configure: Configure): void {
  program
    .command("migrate")
    .summary("bring the database up to date, as a start of the server does")
    .description(
      "Brings the database up to date and prints from which schema to which. A start of the server does the same; with several servers, this one can be done before the first of them is replaced.",
    )
    .option("--check", "change nothing; the exit code is 1 if there is something to do")
    .addHelpText("after", examples("ctxd migrate", "ctxd migrate --check"))
    .action(async (options: { check?: boolean }) =>
      (await import("./migrate.ts")).migrateDatabase(configure(), options),
    );
}

export function addDashboard(program: Command, configure: Configure, env: Environment): void {
  program
    .command("dashboard")
    .alias("open")
    .summary("open the dashboard in a browser, also to make the owner's account")
    .description(
      "Opens the dashboard in a browser and prints its address. As long as the server has no owner, that is the link that makes the owner's account: nobody else knows it. When no server runs, one is started in the background; it ends some minutes after its last use.",
    )
    .option("--no-browser", "print the address alone")
    .option("--json", "print the address as JSON, and open no browser")
    .addHelpText("after", examples("ctxd open", "ctxd dashboard --no-browser"))
    .action(async (options: DashboardOptions) =>
      (await import("./dashboard.ts")).openDashboard(configure(), options, env),
    );
}

export function addHealth(program: Command, configure: Configure): void {
  program
    .command("health")
    .summary("ask a running server whether it works")
    .description(
      "Asks a running server whether it works: one line, and the exit code 0 or 1. Without --url, it is the server of the data folder, wherever that listens, or else the one that the settings describe.",
    )
    .option("--url <url>", "where the server is, such as https://memory.example.com", parseUrl)
    .option("--json", "print the server's answer, as JSON")
    .addHelpText("after", examples("ctxd health", "ctxd health --url https://memory.example.com"))
    .action(async (options: { url?: URL; json?: boolean }) =>
      (await import("./health.ts")).checkHealth(configure(), options),
    );
}

export function addDoctor(program: Command, configure: Configure, env: Environment): void {
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
    .action(async (options: DoctorOptions) =>
      (await import("./doctor.ts")).runDoctor(configure, options, env),
    );
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number of seconds.");
}

function describeSettings(): string {
  const entries = Object.entries(SETTINGS);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, { meaning }]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n");
}
