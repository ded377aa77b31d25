import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { distance } from "fastest-levenshtein";
import { SETTINGS } from "../../config/settings.ts";
import { createLog, createLogFile } from "../../log.ts";
import type { Started } from "../../server/serve.ts";
import { type Context, examples } from "../context.ts";
import { greet } from "../greeting.ts";

interface ServeOptions {
  host?: string;
  port?: string;
  /** Seconds without a client after which a server in the background ends. */
  background?: number;
}

export function define(program: Command, { configure, env, names }: Context): void {
  program
    .command("serve", { isDefault: true })
    .summary("run the server (the default command)")
    .description(
      "Runs the server until Ctrl-C or SIGTERM. The dashboard is at the server's address, by default http://localhost:7733.\nThe server replaces one that agents have started in the background.",
    )
    .option("--host <address>", "address to listen on (CTXD_HOST, 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for any free one (CTXD_PORT, 7733)")
    .addOption(
      new Option("--background <seconds>", "end after so many seconds without a client")
        .argParser(parseSeconds)
        .hideHelp(),
    )
    .addHelpText("after", examples("ctxd", "ctxd serve --port 8080"))
    .addHelpText("after", `\nSettings, from the environment:\n${describeSettings()}`)
    .allowExcessArguments()
    .action(async ({ host, port, background }: ServeOptions, command: Command) => {
      // serve is the default command, so an unknown command ends up here.
      const [unknown] = command.args;
      if (unknown !== undefined) refuseCommand(program, names, unknown);
      const config = configure({
        ...(host === undefined ? {} : { CTXD_HOST: host }),
        ...(port === undefined ? {} : { CTXD_PORT: port }),
      });
      const { serve } = await import("../../server/serve.ts");
      const onStart = (started: Started) => greet(config, env, started);
      if (background === undefined) return serve(config, createLog(config), { env, onStart });
      const log = createLog(config, createLogFile(join(config.dataDir, "background.log")));
      await serve(config, log, { env, onStart, background: { idleSeconds: background } });
    });
}

/** Letters of a command's name that may be mistyped. */
const MAX_TYPING_ERRORS = 2;

/** Refuses a command that does not exist, and names the nearest one. */
function refuseCommand(program: Command, names: readonly string[], word: string): never {
  const [nearest] = names
    .map((name) => ({ name, errors: distance(word, name) }))
    .filter(({ name, errors }) => errors <= MAX_TYPING_ERRORS && errors < name.length / 2)
    .sort((a, b) => a.errors - b.errors);
  const hint = nearest ? `\n(Did you mean ${nearest.name}?)` : "";
  return program.error(`error: unknown command '${word}'${hint}`);
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number of seconds.");
}

function describeSettings(): string {
  const entries = Object.entries(SETTINGS);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n");
}
