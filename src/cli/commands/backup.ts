import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import { createBackup } from "../../backup/create-backup.ts";
import { connectShared } from "../../backup/shared/connect.ts";
import { openSharedSource } from "../../backup/shared/shared-source.ts";
import type { Config } from "../../config.ts";
import { loadLanceDb } from "../../native/lancedb.ts";
import type { Context } from "../context.ts";
import { describeBackup } from "../describe-backup.ts";
import { readLock } from "../encryption.ts";
import { examples } from "../help-text.ts";
import { interruptible } from "../interruption.ts";
import { createProgress } from "../progress.ts";
import { recordCommand } from "../stores.ts";
import { say } from "../terminal.ts";

/** Adds the command to the program. */
export function define(program: Command, { configure }: Context): void {
  program
    .command("backup")
    .argument("<folder>", "a new or empty folder, best on another disk")
    .summary("copy all data, also while the server runs")
    .description(
      "Copies everything in the data folder as it is at one moment, also while the server runs. Every file is checksummed and on the disk when this ends; without backup.json it is no backup. Keep it as safe as the data: it holds all memories. Encrypted, it can be kept anywhere, in the format of age (age-encryption.org).",
    )
    .addOption(
      new Option(
        "--encrypt [recipient]",
        "encrypt to a recipient (age1..., repeatable); without one to a passphrase that is asked for, or is one line of standard input",
      ).argParser((value: string, before: readonly string[] | undefined) => [
        ...(before ?? []),
        value,
      ]),
    )
    .addHelpText(
      "after",
      examples(
        "ctxd backup /mnt/usb/ctxd-2027-01-31",
        "ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt",
        "ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
      ),
    )
    .action((folder: string, { encrypt }: { encrypt?: readonly string[] | true }) =>
      backUp(configure(), folder, {
        encrypt: encrypt === undefined ? null : [encrypt].flat(),
      }),
    );
}

/**
 * `ctxd backup FOLDER`
 * @param encrypt what `--encrypt` was given each time, `true` for nothing
 */
async function backUp(
  config: Config,
  target: string,
  { encrypt = null }: { encrypt?: readonly (string | true)[] | null },
): Promise<void> {
  const { dataDir, cacheDir, backupRecipients, shared } = config;
  const folder = resolve(target);
  const lock = await readLock(encrypt, backupRecipients);
  const lancedb = await loadLanceDb(cacheDir);
  const { onProgress, end } = createProgress();
  const manifest = await interruptible((signal) =>
    createBackup({
      ...{ dataDir, folder, version, lancedb, clock: Date.now, lock, signal, onProgress },
      ...(shared && { open: () => openSharedSource(connectShared(shared), dataDir) }),
    }),
  ).finally(end);
  await recordCommand(config, "backup_created", {
    accountId: null,
    subject: lock ? "encrypted" : null,
  });
  say(`Backed up ${describeBackup(manifest)} to ${folder}${lock ? ", encrypted" : ""}.`);
}
