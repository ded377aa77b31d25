import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Config, readConfig } from "../config/config.ts";
import { type Environment, INSTALLED_BY } from "../config/settings.ts";
import { FOLDER_VARIABLES } from "../system/folders.ts";
import {
  inThisFolder,
  nameOfProgram,
  quoteForShell,
  startingScript,
  toShell,
} from "../system/shell.ts";

/**
 * Programs that run a package's command without installing it: the folder of their cache, the command that
 * a user types, and the command that starts a cached package without questions and without the network.
 */
const RUNNERS = [
  { folder: /[\\/]_npx[\\/]/, typed: ["npx"], started: ["npx", "-y", "--prefer-offline"] },
  { folder: /[\\/]bunx-[^\\/]+[\\/]/, typed: ["bunx"], started: ["bunx"] },
  { folder: /[\\/]xfs-[^\\/]+[\\/]dlx-/, typed: ["yarn", "dlx"], started: ["yarn", "dlx", "-q"] },
  { folder: /[\\/]dlx(-\d+)?[\\/]/, typed: ["pnpm", "dlx"], started: ["pnpm", "dlx"] },
] as const;
const PACKAGE = "ctxd";

/**
 * Finds the package runner of a program in the cache of npx or a similar tool. The cache may be emptied at any
 * time, so the program's own path must not be written into settings.
 * @param program the program's path
 * @returns the command that a user types and the one that another program runs; null for an installed program
 */
export function packageRunnerOf(program: string, platform?: string) {
  const runner = RUNNERS.find(({ folder }) => folder.test(program));
  if (runner === undefined) return null;
  return {
    typed: [...runner.typed, PACKAGE],
    started: startingScript([...runner.started, PACKAGE], platform),
  };
}

const ROOT = join(import.meta.dir, "..", "..");

/** The data folder of a checkout, inside it. The executable uses the user's data folder: undefined. */
export const checkoutDataDir = Bun.isStandaloneExecutable ? undefined : join(ROOT, "data");

/**
 * Arguments with which Bun runs the checkout. By default Bun reads its configuration (`preload`, `.env`,
 * `paths` in tsconfig.json) from the current folder, which may be an untrusted project: `paths` there could
 * even replace the script's own modules. So Bun gets the checkout's configuration.
 */
const CHECKOUT = [
  `--config=${join(ROOT, "bunfig.toml")}`,
  `--tsconfig-override=${join(ROOT, "tsconfig.json")}`,
  join(ROOT, "src", "main.ts"),
];

/** The command that starts this program from any folder, without arguments. */
export const ownCommand: readonly string[] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, ...CHECKOUT];

/** The package runner, such as npx, that keeps the executable in its cache; null otherwise. */
export const packageRunner = Bun.isStandaloneExecutable ? packageRunnerOf(process.execPath) : null;

/**
 * Whether Bun has read its configuration from another folder than the checkout. An agent's settings from
 * an older version do that, or a user who starts the script directly.
 */
export const isConfiguredByFolder: boolean =
  !Bun.isStandaloneExecutable &&
  process.cwd() !== ROOT &&
  !CHECKOUT.slice(0, -1).every((flag) => process.execArgv.includes(flag));

/**
 * The command line by which another program runs a command of `ctxd` on the same data, from any folder and
 * with any environment.
 */
export function launchOf(
  words: readonly string[],
  { dataDir }: Pick<Config, "dataDir">,
  env: Environment,
): { command: string; args: string[] } {
  const [command = "", ...first] = packageRunner?.started ?? ownCommand;
  const folder = isDefault(dataDir, homeOf(env)) ? [] : ["--data-dir", dataDir];
  const program = packageRunner ? command : stablePath(command, env);
  return { command: program, args: [...first, ...words, ...folder] };
}

/** The variables of an environment that determine the home folder. */
function homeOf(env: Environment): Environment {
  return Object.fromEntries(FOLDER_VARIABLES.map((name) => [name, env[name]]));
}

/** A link in the `PATH` to the program, if there is one: unlike the program's path, it survives an upgrade. */
function stablePath(program: string, env: Environment): string {
  const found = Bun.which(basename(program), { PATH: env.PATH ?? "" });
  return found && realpathSync(found) === realpathSync(program) ? found : program;
}

/**
 * A command of `ctxd` as a user types it in another terminal, in the same folder, to reach the same data.
 * It begins with `ctxd`, `./ctxd` or the command of a checkout, and names a data folder that is not the
 * default.
 */
export function describeCommand(
  command: string,
  { dataDir }: Pick<Config, "dataDir">,
  env: Environment,
  from?: From,
): string {
  const folder =
    isDebianService(env) || isDefault(dataDir, env) ? "" : ` --data-dir ${quoteForShell(dataDir)}`;
  return `${describeProgram(env, from)} ${command}${folder}`;
}

/** Where a command is typed: in the folder in which this process runs, or anywhere. */
type From = "here" | "anywhere";

/** The words that a user types to run this program, such as `ctxd` or `npx ctxd`. */
export function describeProgram(env: Environment, from: From = "here"): string {
  if (isDebianService(env)) return "sudo ctxd-service";
  return Bun.isStandaloneExecutable ? describeExecutable(env, from) : describeCheckout(env, from);
}

/** Whether this is the service of the Debian package: only `ctxd-service` can reach its memories. */
function isDebianService(env: Environment): boolean {
  return env[INSTALLED_BY] === "deb-service";
}

function describeExecutable(env: Environment, from: From): string {
  if (packageRunner) return toShell(packageRunner.typed);
  const name = basename(process.execPath);
  const typed = nameOfProgram(name);
  if (Bun.which(name, { PATH: env.PATH ?? "" }) === process.execPath) return quoteForShell(typed);
  const isHere = from === "here" && dirname(process.execPath) === process.cwd();
  return isHere ? inThisFolder(typed) : quoteForShell(process.execPath);
}

function describeCheckout(env: Environment, from: From): string {
  // npx adds Bun to the PATH of the program that it runs, but not to that of the next terminal. In another
  // folder npx would first look for a Bun there.
  const isNpx = env.npm_config_user_agent?.startsWith("npm/");
  const typed = isNpx ? `npx -y bun@${Bun.version} ctxd` : "bun ctxd";
  if (from === "anywhere") return `cd ${quoteForShell(ROOT)} && ${typed}`;
  if (process.cwd() === ROOT) return typed;
  return toShell([isNpx ? process.execPath : "bun", ...CHECKOUT]);
}

function isDefault(dataDir: string, { CTXD_DATA_DIR: _, ...env }: Environment): boolean {
  try {
    return readConfig(env, {}, checkoutDataDir).dataDir === dataDir;
  } catch {
    return false;
  }
}
