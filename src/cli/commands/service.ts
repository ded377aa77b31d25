import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { readConfig } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { createLog } from "../../log.ts";
import { describeProgram, launchOf, packageRunner } from "../../server/invocation.ts";
import { createLogFile } from "../../server/log-file.ts";
import { SETTINGS } from "../../settings.ts";
import { AWS_SETTINGS } from "../../shared-settings.ts";
import { leaveConsole } from "../../system/console.ts";
import { moveFile } from "../../system/files.ts";
import { ownServices } from "../../system/services/own-services.ts";
import type { ServiceSystem } from "../../system/services/service-system.ts";
import { toShell } from "../../system/shell.ts";
import { CommandError } from "../command-error.ts";
import type { Configure, Context, Environment } from "../context.ts";
import { greet } from "../greeting.ts";
import { examples } from "../help-text.ts";
import { print, say } from "../terminal.ts";

/** Milliseconds that the system may take for one of its commands. */
const PATIENCE = 60_000;

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
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
    .action(() => installService(configure(), env));
  service
    .command("uninstall")
    .summary("stop it, and start it no more; the data stays")
    .action(() => uninstallService(configure(), env));
  service
    .command("status")
    .summary("whether it is installed and runs; also by the exit code")
    .action(() => showService(env));
  // What a task of Windows starts, which has no environment of its own.
  service
    .command("run <file>", { hidden: true })
    .action((file: string) => runService(file, configure, env));
}

/**
 * `ctxd service install`: the server starts now and whenever its person logs in. The service has the
 * settings that the environment has now.
 */
async function installService(config: Config, env: Environment): Promise<void> {
  if (packageRunner) {
    throw new CommandError(
      `${describeProgram(env)} keeps the program in a cache, which no service should depend on: npm install -g ctxd, then ctxd service install.`,
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
  const isThere = existsSync(system.path) && (await readFile(system.path)).equals(text);
  for (const words of system.replace) await run(words, env);
  if (settingsPath !== undefined) {
    const { env: settings, logFile } = service;
    await writeWhole(settingsPath, Buffer.from(JSON.stringify({ settings, logFile })));
  }
  if (!isThere) await writeWhole(system.path, text);
  say(`${isThere ? "Already there" : "Written"}: ${system.path}`);
  if (settings.length > 0) say(`With the settings of this terminal: ${settings.join(", ")}`);
  for (const words of system.start) {
    const failure = await run(words, env);
    if (failure === null) continue;
    throw new CommandError(
      `The service is described but does not run: ${toShell(words)} failed (${failure}). Run it yourself once ${system.title} is there for your user, or take the description away with ${describeProgram(env)} service uninstall.`,
    );
  }
  say("It runs, and starts again whenever you log in.");
  for (const hint of system.hints) say(hint);
}

/** `ctxd service uninstall`: stops the service and takes its description away. The data stays. */
async function uninstallService(config: Config, env: Environment): Promise<void> {
  const system = systemOf(env);
  if (!existsSync(system.path)) {
    say(`There is no service: ${system.path} isn't there.`);
    return;
  }
  for (const words of system.stop) {
    const failure = await run(words, env);
    if (failure !== null) say(`${toShell(words)} failed (${failure}).`);
  }
  await rm(system.path, { force: true });
  if (system.settingsPath !== undefined) await rm(system.settingsPath, { force: true });
  say(`Removed: ${system.path}`);
  say(`What it kept stays in ${config.dataDir}`);
}

/** `ctxd service status`: one line on standard output, and the exit code 0 if it runs. */
async function showService(env: Environment): Promise<void> {
  const system = systemOf(env);
  if (!existsSync(system.path)) {
    await print("not installed");
    throw new CommandError(
      `There is no service: ${describeProgram(env)} service install makes one.`,
    );
  }
  const failure = await run(system.isRunning, env);
  await print(failure === null ? "running" : "installed, not running");
  if (failure !== null) throw new CommandError(`${toShell(system.isRunning)}: ${failure}.`);
}

function systemOf(env: Environment): ServiceSystem {
  const system = ownServices(env);
  if (system) return system;
  throw new CommandError("How this system runs services is not known: have it run ctxd serve.");
}

function encode(text: string, { encoding }: ServiceSystem): Buffer {
  return encoding ? Buffer.from(`\uFEFF${text}`, encoding) : Buffer.from(text);
}

async function writeWhole(path: string, text: Buffer): Promise<void> {
  const partial = `${path}.part-${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    // For its owner alone: settings may hold secrets.
    await writeFile(partial, text, { mode: 0o600 });
    await moveFile(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    const reason = messageOf(error);
    throw new CommandError(`${path} can't be written (${reason}): nothing was changed.`);
  }
}

/** Why a command of the system failed; null when it did not. */
async function run(words: readonly string[], env: Environment): Promise<string | null> {
  const [name = ""] = words;
  const program = Bun.which(name, { PATH: env.PATH ?? "" });
  if (!program) return `there is no ${name} here`;
  const child = Bun.spawn([program, ...words.slice(1)], {
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: PATIENCE,
  });
  const errors = (await child.stderr.text()).trim().replaceAll(/\s+/g, " ");
  const code = await child.exited;
  return code === 0 ? null : errors.slice(0, 300).replace(/\.$/, "") || `it ended with ${code}`;
}

/** What `ctxd service install` writes for a system whose services have no environment of their own. */
const Kept = Type.Object({
  settings: Type.Record(Type.String(), Type.String()),
  logFile: Type.String(),
});

/** `ctxd service run FILE`: the server with the settings that are kept in a file. */
async function runService(file: string, configure: Configure, env: Environment): Promise<void> {
  const { serve } = await import("../../server/serve.ts");
  const { settings, logFile } = readKept(file);
  leaveConsole();
  const kept = { ...env, ...settings };
  // A folder that is not the usual one is in the command, as for other systems.
  const config = readConfig(kept, { CTXD_DATA_DIR: configure().dataDir });
  await serve(config, createLog(config, createLogFile(logFile)), {
    env: kept,
    onStart: (started) => greet(config, kept, started),
  });
}

function readKept(file: string): Static<typeof Kept> {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (Value.Check(Kept, kept)) return kept;
  } catch {
    // The same sentence for both.
  }
  throw new CommandError(`${file} has no settings of a service: run ctxd service install again.`);
}
