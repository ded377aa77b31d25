import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Config, readConfig } from "../config.ts";
import type { Environment } from "../settings.ts";
import { INSTALLED_BY } from "../settings.ts";
import { FOLDER_VARIABLES } from "../system/folders.ts";
import { inThisFolder, nameOfProgram, quoteForShell, toShell } from "../system/shell.ts";
import { type PackageRunner, packageRunnerOf } from "./package-runner.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** A checkout keeps its data in itself; the executable, in the user's data folder. */
export const checkoutDataDir = Bun.isStandaloneExecutable ? undefined : join(ROOT, "data");

/**
 * Bun takes its configuration (`preload`, `.env`) and the meaning of paths from the folder that it
 * is started in, which may be a project of somebody else: it is given the checkout's own. The script
 * alone would not do, because `paths` in a folder's tsconfig.json can lead that elsewhere too.
 */
const CHECKOUT = [
  `--config=${join(ROOT, "bunfig.toml")}`,
  `--tsconfig-override=${join(ROOT, "tsconfig.json")}`,
  join(ROOT, "src", "main.ts"),
];

/** What starts this program again, whatever the folder: the words before its arguments. */
export const ownCommand: readonly string[] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, ...CHECKOUT];

/** What keeps the executable in a cache; null where it is installed, and in a checkout. */
export const packageRunner: PackageRunner | null = Bun.isStandaloneExecutable
  ? packageRunnerOf(process.execPath)
  : null;

/**
 * Whether Bun has taken its configuration from a folder that is not the checkout's: what an agent has
 * in its settings is of an older version then, or somebody has typed it so.
 */
export const isConfiguredByFolder: boolean =
  !Bun.isStandaloneExecutable &&
  process.cwd() !== ROOT &&
  !CHECKOUT.slice(0, -1).every((flag) => process.execArgv.includes(flag));

/**
 * What another program runs for a command of `ctxd`, to reach the same data whatever its folder and
 * environment.
 */
export function launchOf(
  words: readonly string[],
  { dataDir }: Pick<Config, "dataDir">,
  env: Environment,
): { command: string; args: string[] } {
  const [command = "", ...first] = packageRunner?.started ?? ownCommand;
  const folder = isUsual(dataDir, homeOf(env)) ? [] : ["--data-dir", dataDir];
  const program = packageRunner ? command : stablePath(command, env);
  return { command: program, args: [...first, ...words, ...folder] };
}

/** What of an environment tells where the home folder is. */
function homeOf(env: Environment): Environment {
  return Object.fromEntries(FOLDER_VARIABLES.map((name) => [name, env[name]]));
}

/** A link in the `PATH` that leads to the program, if there is one: it outlives an update. */
function stablePath(program: string, env: Environment): string {
  const found = Bun.which(basename(program), { PATH: env.PATH ?? "" });
  return found && realpathSync(found) === realpathSync(program) ? found : program;
}

/**
 * A command of `ctxd` as a person types it into another terminal, in the same folder, to reach the
 * same data: `ctxd`, `./ctxd` or what starts a checkout, and the data folder when it is not the
 * usual one.
 */
export function describeCommand(
  command: string,
  { dataDir }: Pick<Config, "dataDir">,
  env: Environment,
): string {
  const folder =
    isOfPackage(env) || isUsual(dataDir, env) ? "" : ` --data-dir ${quoteForShell(dataDir)}`;
  return `${describeProgram(env)} ${command}${folder}`;
}

/** What a person types in the place of `ctxd`. */
export function describeProgram(env: Environment): string {
  if (isOfPackage(env)) return "sudo ctxd-service";
  return Bun.isStandaloneExecutable ? describeExecutable(env) : describeCheckout(env);
}

/** Whether this is the service of the Debian package, whose memories nobody reaches by the program alone. */
function isOfPackage(env: Environment): boolean {
  return env[INSTALLED_BY] === "deb-service";
}

function describeExecutable(env: Environment): string {
  if (packageRunner) return toShell(packageRunner.typed);
  const name = basename(process.execPath);
  const typed = nameOfProgram(name);
  if (Bun.which(name, { PATH: env.PATH ?? "" }) === process.execPath) return quoteForShell(typed);
  const isHere = dirname(process.execPath) === process.cwd();
  return isHere ? inThisFolder(typed) : quoteForShell(process.execPath);
}

function describeCheckout(env: Environment): string {
  // npx puts Bun into the PATH of what it runs, not into that of the next terminal. Elsewhere it
  // would first look for one in the folder.
  const isNpx = env.npm_config_user_agent?.startsWith("npm/");
  if (process.cwd() === ROOT) return isNpx ? `npx -y bun@${Bun.version} ctxd` : "bun ctxd";
  return toShell([isNpx ? process.execPath : "bun", ...CHECKOUT]);
}

function isUsual(dataDir: string, { CTXD_DATA_DIR: _, ...env }: Environment): boolean {
  try {
    return readConfig(env, {}, checkoutDataDir).dataDir === dataDir;
  } catch {
    return false;
  }
}
