import { resolve } from "node:path";
import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import type { EndedAccess } from "../../backup/end-access.ts";
import type { Restored } from "../../backup/open-backup.ts";
import { restoreBackup } from "../../backup/restore-backup.ts";
import { restoreShared } from "../../backup/shared/restore-shared.ts";
import { connectShared, type SharedPlace } from "../../backup/shared/shared-source.ts";
import type { Config } from "../../config/config.ts";
import type { SharedSettings } from "../../config/shared-settings.ts";
import { migratePostgres } from "../../db/postgres-migrations.ts";
import { checkObjectStore } from "../../objects/check.ts";
import { describeCommand } from "../../server/invocation.ts";
import { count, describeBackup, unlockBy } from "../backup-options.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { createProgress } from "../progress.ts";
import { recordCommand } from "../stores.ts";
import { CommandError, formatMoment, interruptible, say } from "../terminal.ts";

interface RestoreOptions {
  revokeKeys?: boolean;
  identity?: string;
}

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("restore")
    .argument("<folder>", "a folder that ctxd backup has written")
    .summary("put a backup into an empty data folder")
    .description(
      "Restores a backup into the data folder, which must be without data and without a server. All checksums are compared before anything is written. Sessions, invitations and the tokens of apps end: people and apps sign in again. Passwords and API keys are those of the backup, including keys that were revoked later.",
    )
    .option(
      "--identity <file>",
      "the identity file that decrypts a backup encrypted to a recipient",
    )
    .option("--revoke-keys", "revoke all API keys and all grants of apps too")
    .addHelpText(
      "after",
      examples(
        "ctxd restore /mnt/usb/ctxd-2027-01-31 --data-dir ~/ctxd-restored",
        "ctxd restore /mnt/usb/ctxd-2027-01-31 --data-dir ~/ctxd-restored --identity key.txt",
      ),
    )
    .action((folder: string, options: RestoreOptions) =>
      restore(configure(), folder, options, env),
    );
}

async function restore(config: Config, source: string, options: RestoreOptions, env: Environment) {
  const { revokeKeys = false, identity = null } = options;
  const { dataDir, shared } = config;
  const folder = resolve(source);
  const { onProgress, end } = createProgress();
  const { manifest, ended } = await interruptible((signal) => {
    const options = {
      folder,
      dataDir,
      revokeKeys,
      signal,
      onProgress,
      unlock: unlockBy(identity),
      isExpectedSealed: identity !== null,
    };
    return shared ? restoreTo(shared, options) : restoreBackup({ ...options, version });
  }).finally(end);
  await recordCommand(config, "backup_restored", { accountId: null });
  const moment = formatMoment(new Date(manifest.created_at));
  const target = shared ? "PostgreSQL and the object store" : dataDir;
  say(`Restored ${describeBackup(manifest)} to ${target}, as of ${moment}.`);
  say(describeAccess(ended, revokeKeys));
  say(shared ? "Start the servers, each with:" : "Start the server:");
  say(`  ${describeCommand("serve", config, env)}`);
}

async function restoreTo(
  shared: SharedSettings,
  options: Omit<Parameters<typeof restoreShared>[0], keyof SharedPlace>,
): Promise<Restored> {
  const { state, message } = await checkObjectStore(shared.objects);
  if (state !== "ok") throw new CommandError(message);
  const place = connectShared(shared);
  try {
    await migratePostgres(place.postgres);
    return await restoreShared({ ...options, ...place });
  } finally {
    await place.postgres.close();
  }
}

/** Describes which access has ended and which is as it was at the time of the backup. */
function describeAccess({ sessions, apps, invitations, keys }: EndedAccess, isRevoked: boolean) {
  const ended = [
    count(sessions, "session"),
    `the tokens of ${count(apps, "app")}`,
    count(invitations, "invitation"),
    ...(isRevoked ? [count(keys, "API key")] : []),
  ];
  const kept = "Accounts, passwords and passkeys are those of the backup.";
  const valid = keys === 1 ? "1 API key is" : `${keys} API keys are`;
  const hint = `${valid} valid again, even if revoked later: ctxd key list shows the keys, ctxd key revoke revokes one, and restore --revoke-keys revokes all.`;
  return `Ended: ${ended.join(", ")}. ${isRevoked || keys === 0 ? kept : `${kept} ${hint}`}`;
}
