import type { Command } from "commander";
import changelog from "../../../CHANGELOG.md" with { type: "text" };
import { version } from "../../../package.json" with { type: "json" };
import type { Config } from "../../config/config.ts";
import { INSTALLED_BY } from "../../config/settings.ts";
import { homeFolder } from "../../system/folders.ts";
import { readChangelog } from "../../text/changelog.ts";
import {
  type Advice,
  adviceFor,
  findInstallMethod,
  type InstallMethod,
  readInstallTraces,
} from "../../upgrade/installation.ts";
import {
  fetchNewestRelease,
  isNewer,
  newestReleaseOf,
  type PublishedRelease,
} from "../../upgrade/release.ts";
import { repository } from "../../upgrade/repository.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { CommandError, print, printable, printJson } from "../terminal.ts";

interface UpgradeOptions {
  check?: boolean;
  changes?: boolean;
  json?: boolean;
}

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("upgrade")
    .summary("show how to upgrade this version, and what is new")
    .description(
      "Shows how this version was installed, and which command upgrades it. Only --check uses the network; nothing else in ctxd looks for newer versions.",
    )
    .option("--check", "look up the newest release and what is new in it")
    .option("--changes", "show what is new in this version")
    .option("--json", "as JSON")
    .addHelpText("after", examples("ctxd upgrade", "ctxd upgrade --check"))
    .action((options: UpgradeOptions) => runUpgrade(configure(), options, env));
}

/**
 * `ctxd upgrade`: shows what is new and how to upgrade.
 * @throws CommandError, or UpgradeError when a release can't be looked up
 */
async function runUpgrade(config: Config, options: UpgradeOptions, env: Environment) {
  const { check, changes: isAsked, json } = options;
  const way = findInstallMethod(readInstallTraces(env[INSTALLED_BY], homeFolder(env)));
  const advice = adviceFor(way, {
    executable: process.execPath,
    repository,
    cpu: process.arch === "arm64" ? "arm64" : "amd64",
  });
  const newest = check ? await fetchNewestRelease(addressOf(config)) : null;
  if (json) return await printJson(toJson(way, advice, newest));
  if (isAsked) await print(`What is new in ctxd ${version}:\n\n${changes()}\n`);
  if (newest) await print(describeNewest(newest));
  if (newest && !isNewer(newest.version, version)) return;
  const place = way === "checkout" ? "" : ` (${process.execPath})`;
  await print(`Installed:  ctxd ${version}, ${advice.how}${place}`);
  if (advice.command) await print(`To upgrade: ${advice.command}`);
  if (advice.note) await print(`${advice.command ? "           " : "To upgrade:"} ${advice.note}`);
  if (!newest) await print("Is there a newer version? ctxd upgrade --check looks it up.");
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
  return `ctxd ${newest.version} is available; this is ${version}. What is new in it:\n\n${notes}\n`;
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
