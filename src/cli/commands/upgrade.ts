import { existsSync } from "node:fs";
import type { Command } from "commander";
import changelog from "../../../CHANGELOG.md" with { type: "text" };
import { version } from "../../../package.json" with { type: "json" };
import { readChangelog } from "../../changelog.ts";
import type { Config } from "../../config.ts";
import { isLocked } from "../../db/data-lock.ts";
import { executableName, ownTargetName, targetNamed } from "../../native/targets.ts";
import { describeProgram } from "../../server/invocation.ts";
import { INSTALLED_BY } from "../../settings.ts";
import { homeFolder } from "../../system/folders.ts";
import { toShell } from "../../system/shell.ts";
import { type Advice, adviceFor, canReplaceItself } from "../../upgrade/advice.ts";
import { installRelease } from "../../upgrade/install-release.ts";
import {
  findInstallMethod,
  type InstallMethod,
  readInstallTraces,
} from "../../upgrade/installation.ts";
import {
  fetchNewestRelease,
  newestReleaseOf,
  type PublishedRelease,
} from "../../upgrade/release.ts";
import { repository } from "../../upgrade/repository.ts";
import { isNewer } from "../../upgrade/versions.ts";
import { CommandError, USAGE } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { interruptible } from "../interruption.ts";
import { printable } from "../printable.ts";
import { createByteMeter } from "../progress.ts";
import { print, say } from "../terminal.ts";

interface UpgradeOptions {
  check?: boolean;
  install?: boolean;
  json?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("upgrade")
    .summary("show what is new in this version, and how to upgrade it")
    .description(
      "Shows what is new in this version, how it was installed, and which command upgrades it. Only --check and --install use the network; nothing else in ctxd looks for newer versions.",
    )
    .option("--check", "look up the newest release and what is new in it")
    .option(
      "--install",
      "download the newest release, check its SHA-256, and replace this executable; the old one stays beside it, and nothing is restarted",
    )
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd upgrade", "ctxd upgrade --check"))
    .action((options: UpgradeOptions) => runUpgrade(configure(), options, env));
}

/**
 * `ctxd upgrade`: shows what is new and how to upgrade.
 * @throws CommandError, or UpgradeError when a release can't be looked up or installed
 */
async function runUpgrade(
  config: Config,
  { check, install, json }: UpgradeOptions,
  env: Environment,
): Promise<void> {
  if (install && (check || json))
    throw new CommandError("--install can't be combined with --check or --json.", USAGE);
  const way = findInstallMethod(readInstallTraces(env[INSTALLED_BY], homeFolder(env)));
  const advice = adviceFor(way, {
    executable: process.execPath,
    program: describeProgram(env),
    repository,
    cpu: process.arch === "arm64" ? "arm64" : "amd64",
  });
  if (install) return await installNewest(config, way, advice);
  const newest = check ? await fetchNewestRelease(addressOf(config)) : null;
  if (json) return await print(JSON.stringify(toJson(way, advice, newest), null, 2));
  await print(newest ? describeNewest(newest) : describeThis());
  if (newest && !isNewer(newest.version, version)) return;
  const place = way === "checkout" ? "" : ` (${process.execPath})`;
  await print(`\nInstalled:  ${advice.how}${place}`);
  if (advice.command) await print(`To upgrade: ${advice.command}`);
  if (advice.note) await print(`            ${advice.note}`);
}

/** The backup must be made by the old program: a newer one refuses data that it has not opened yet. */
function backupBy(former: string, { dataDir }: Config): string {
  return toShell([former, "backup", "FOLDER", "--data-dir", dataDir]);
}

function describeThis(): string {
  return `What is new in ctxd ${version}:\n\n${changes()}`;
}

/** The changes of this version, or of the next one if this one has no heading yet. */
function changes(): string {
  const sections = readChangelog(changelog);
  const found = [version, null].map((wanted) => sections.find((each) => each.version === wanted));
  return found.find((section) => section?.text)?.text ?? "No changes are listed.";
}

function describeNewest(newest: PublishedRelease): string {
  if (!isNewer(newest.version, version)) {
    return `ctxd ${version} is up to date: the newest release is ${newest.version}.`;
  }
  const notes = printable(newest.notes.trim()) || "No changes are listed.";
  return `ctxd ${newest.version} is available; this is ${version}. What is new in it:\n\n${notes}`;
}

function toJson(way: InstallMethod, { command, note }: Advice, newest: PublishedRelease | null) {
  return {
    version,
    installed_by: way,
    executable: process.execPath,
    command,
    note,
    changes: changes(),
    ...(newest && {
      newest: {
        version: newest.version,
        is_newer: isNewer(newest.version, version),
        notes: newest.notes,
      },
    }),
  };
}

function addressOf({ releasesUrl }: Config): string {
  if (releasesUrl !== null) return releasesUrl;
  if (repository !== null) return newestReleaseOf(repository);
  throw new CommandError(
    "This program was built without the address of its releases. Set CTXD_RELEASES_URL to that address.",
  );
}

async function installNewest(config: Config, way: InstallMethod, advice: Advice): Promise<void> {
  if (!canReplaceItself(way)) {
    throw new CommandError(
      `It was installed ${advice.how}: ctxd upgrade shows the command that upgrades it.`,
    );
  }
  const newest = await fetchNewestRelease(addressOf(config));
  if (!isNewer(newest.version, version)) return say(describeNewest(newest));
  const name = executableName(targetNamed(ownTargetName()));
  const meter = createByteMeter(`Downloading ctxd ${newest.version}`);
  const former = await interruptible(
    (signal) =>
      installRelease(newest, {
        executable: process.execPath,
        name,
        signal,
        onProgress: meter.show,
      }),
    "Stopped: nothing was changed.",
  ).finally(meter.end);
  say(`Installed: ctxd ${newest.version}, in ${process.execPath}`);
  say(`The old version, ${version}, is ${former}`);
  say(
    `Before the new version opens your data, back it up with the old one: ${backupBy(former, config)}`,
  );
  const isServed = existsSync(config.dataDir) && isLocked(config.dataDir);
  if (isServed) say(`The running server stays at ${version} until you restart it.`);
}
