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
    .addHelpText("after", `\nSettings, from the environment.\n\n${describeSettings()}`)
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

/** What other programs call some commands. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{
    start: "serve",
    run: "serve",
    up: "serve",
    server: "serve",
    ui: "dashboard",
    web: "dashboard",
  },
  ...{
    add: "save",
    remember: "save",
    store: "save",
    find: "search",
    query: "search",
    ask: "search",
  },
  ...{ delete: "forget", remove: "forget", rm: "forget", install: "connect", setup: "connect" },
  ...{ update: "upgrade", info: "status", check: "doctor", dump: "export", load: "import" },
};

/** Letters of a command's name that may be mistyped. */
const MAX_TYPING_ERRORS = 2;

/** Refuses a command that does not exist, and names the one that may be meant. */
function refuseCommand(program: Command, names: readonly string[], word: string): never {
  const [nearest] = names
    .map((name) => ({ name, errors: distance(word, name) }))
    .filter(({ name, errors }) => errors <= MAX_TYPING_ERRORS && errors < name.length / 2)
    .sort((a, b) => a.errors - b.errors);
  const meant = Object.hasOwn(OTHER_NAMES, word) ? OTHER_NAMES[word] : nearest?.name;
  const hint = meant ? `\nDid you mean ${meant}?` : "";
  return program.error(`error: unknown command '${word}'${hint}`);
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number of seconds.");
}

/** Headings of settings, the usual ones first, with the beginnings of their names. A setting is in the first that fits. */
const SETTING_GROUPS: readonly (readonly [heading: string, names: RegExp])[] = [
  ["The usual ones", /^CTXD_(HOST|PORT|DATA_DIR|PUBLIC_URL|REGISTRATION|LOG_LEVEL)$/],
  ["Backups", /^CTXD_BACKUP/],
  ["HTTPS and proxies", /^CTXD_(TLS|TRUST|ALLOW)/],
  ["Sign-in and people", /^CTXD_(GITHUB|GOOGLE|OIDC|PASSWORDS|MEMBER|RATE|SECURITY)/],
  ["Searching and memory", /^CTXD_(MODEL|DECAY|HALF|MEMORY|ENGINES)/],
  ["Several replicas", /^CTXD_(DATABASE|OBJECTS|CACHE_SIZE|DRAIN)/],
  ["Others", /^/],
];

function describeSettings(): string {
  const entries = Object.entries(SETTINGS);
  const width = Math.max(...entries.map(([name]) => name.length));
  const groupOf = (name: string) => SETTING_GROUPS.findIndex(([, names]) => names.test(name));
  return SETTING_GROUPS.map(([heading], group) => {
    const own = entries.filter(([name]) => groupOf(name) === group);
    return `${heading}:\n${own.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`).join("\n")}`;
  }).join("\n\n");
}
