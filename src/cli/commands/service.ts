import { existsSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import { type Config, readConfig } from "../../config/config.ts";
import { SETTINGS } from "../../config/settings.ts";
import { AWS_SETTINGS } from "../../config/shared-settings.ts";
import { messageOf } from "../../errors.ts";
import { createLog, createLogFile } from "../../log.ts";
import { describeProgram, launchOf, packageRunner } from "../../server/invocation.ts";
import { leaveConsole } from "../../system/c-library.ts";
import { replaceFile } from "../../system/files.ts";
import type { ServiceSystem } from "../../system/services/service-system.ts";
import { userServices } from "../../system/services/user-services.ts";
import { toShell } from "../../system/shell.ts";
import { type Configure, type Context, type Environment, examples } from "../context.ts";
import { greet } from "../greeting.ts";
import { CommandError, print, say } from "../terminal.ts";

/** Time limit for a command of the service system, in milliseconds. */
const TIMEOUT_MS = 60_000;

export function define(program: Command, { configure, env }: Context): void {
  const service = program
    .command("service")
    .summary("run the server as a service that starts when you log in")
    .description(
      "Runs the server as a service of the system: systemd on Linux, launchd on macOS, a task at log-in on Windows. It needs no root rights.",
    );
  service
    .command("install")
    .summary("start the server now, and whenever you log in")
    .description(
      "Writes the service's definition, prints its path, and starts the service. The service keeps the current settings (CTXD_…) of this terminal; install it again to change them.",
    )
    .addHelpText("after", examples("ctxd service install"))
    .action(() => installService(configure(), env));
  service
    .command("uninstall")
    .summary("stop the service and remove it; the data stays")
    .action(() => uninstallService(configure(), env));
  service
    .command("status")
    .summary("show whether the service is installed and runs; the exit code tells too")
    .action(() => showService(env));
  // A task of Windows starts this, because tasks have no environment of their own.
  service
    .command("run <file>", { hidden: true })
    .action((file: string) => runService(file, configure, env));
}

/**
 * `ctxd service install`: starts the server now and whenever the user logs in, with the settings of the
 * present environment.
 */
async function installService(config: Config, env: Environment): Promise<void> {
  if (packageRunner) {
    throw new CommandError(
      `${describeProgram(env)} keeps the program in a cache, which may be emptied: run npm install -g ctxd, then ctxd service install.`,
    );
  }
  const system = systemOf(env);
  const { settingsPath } = system;
  const words = settingsPath === undefined ? ["serve"] : ["service", "run", settingsPath];
  const { command, args } = launchOf(words, config, env);
  const names: readonly string[] = config.shared ? AWS_SETTINGS : [];
  const settings = Object.keys(env).filter(
    (name) => (name in SETTINGS || names.includes(name)) && env[name],
  );
  const service = {
    command: [command, ...args],
    env: Object.fromEntries(settings.map((name) => [name, env[name] ?? ""])),
    logFile: join(config.dataDir, "service.log"),
  };
  const text = encode(system.describe(service), system);
  const isInstalled = existsSync(system.path) && (await readFile(system.path)).equals(text);
  for (const words of system.replace) await run(words, env);
  if (settingsPath !== undefined) {
    const { env: settings, logFile } = service;
    await writeWhole(settingsPath, Buffer.from(JSON.stringify({ settings, logFile })));
  }
  if (!isInstalled) await writeWhole(system.path, text);
  say(`${isInstalled ? "Already there" : "Written"}: ${system.path}`);
  if (settings.length > 0) say(`With the settings of this terminal: ${settings.join(", ")}`);
  for (const words of system.start) {
    const failure = await run(words, env);
    if (failure === null) continue;
    throw new CommandError(
      `The service is installed but does not run: ${toShell(words)} failed (${failure}). Run that command once ${system.title} is available to your user, or remove the service with ${describeProgram(env)} service uninstall.`,
    );
  }
  say("The service runs, and starts whenever you log in.");
  for (const hint of system.hints) say(hint);
}

/** `ctxd service uninstall`: stops the service and removes its definition. The data stays. */
async function uninstallService(config: Config, env: Environment): Promise<void> {
  const system = systemOf(env);
  if (!existsSync(system.path)) {
    say(`There is no service: ${system.path} does not exist.`);
    return;
  }
  for (const words of system.stop) {
    const failure = await run(words, env);
    if (failure !== null) say(`${toShell(words)} failed (${failure}).`);
  }
  await rm(system.path, { force: true });
  if (system.settingsPath !== undefined) await rm(system.settingsPath, { force: true });
  say(`Removed: ${system.path}`);
  say(`The data stays in ${config.dataDir}`);
}

/** `ctxd service status`: prints one line; the exit code is 0 if the service runs. */
async function showService(env: Environment): Promise<void> {
  const system = systemOf(env);
  if (!existsSync(system.path)) {
    await print("not installed");
    throw new CommandError(
      `There is no service: ${describeProgram(env)} service install creates one.`,
    );
  }
  const failure = await run(system.isRunning, env);
  await print(failure === null ? "running" : "installed, not running");
  if (failure !== null) throw new CommandError(`${toShell(system.isRunning)}: ${failure}.`);
}

function systemOf(env: Environment): ServiceSystem {
  const system = userServices(env);
  if (system) return system;
  throw new CommandError(
    "ctxd does not support the services of this system: make it run ctxd serve.",
  );
}

function encode(text: string, { encoding }: ServiceSystem): Buffer {
  return encoding ? Buffer.from(`\uFEFF${text}`, encoding) : Buffer.from(text);
}

async function writeWhole(path: string, text: Buffer): Promise<void> {
  try {
    await replaceFile(path, text);
  } catch (error) {
    throw new CommandError(`${path} can't be written (${messageOf(error)}): nothing was changed.`);
  }
}

/** Runs a command of the service system. @returns why it failed; null if it succeeded */
async function run(words: readonly string[], env: Environment): Promise<string | null> {
  const [name = ""] = words;
  const program = Bun.which(name, { PATH: env.PATH ?? "" });
  if (!program) return `${name} was not found`;
  const child = Bun.spawn([program, ...words.slice(1)], {
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
  });
  const errors = (await child.stderr.text()).trim().replaceAll(/\s+/g, " ");
  const code = await child.exited;
  return code === 0 ? null : errors.slice(0, 300).replace(/\.$/, "") || `it ended with ${code}`;
}

/** The file that `ctxd service install` writes where services have no environment of their own. */
const ServiceSettings = Type.Object({
  settings: Type.Record(Type.String(), Type.String()),
  logFile: Type.String(),
});

/** `ctxd service run FILE`: runs the server with the settings of a file. */
async function runService(file: string, configure: Configure, env: Environment): Promise<void> {
  const { serve } = await import("../../server/serve.ts");
  const { settings, logFile } = readServiceSettings(file);
  leaveConsole();
  const kept = { ...env, ...settings };
  // As on other systems, the command itself names a data folder that is not the default.
  const config = readConfig(kept, { CTXD_DATA_DIR: configure().dataDir });
  await serve(config, createLog(config, createLogFile(logFile)), {
    env: kept,
    onStart: (started) => greet(config, kept, started),
  });
}

function readServiceSettings(file: string): Static<typeof ServiceSettings> {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (Value.Check(ServiceSettings, kept)) return kept;
  } catch {
    // A file that can't be read and one with wrong contents give the same message.
  }
  throw new CommandError(
    `${file} does not contain a service's settings: run ctxd service install again.`,
  );
}
