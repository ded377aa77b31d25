import { resolve } from "node:path";
import type { Command } from "commander";
import { version } from "../../../package.json" with { type: "json" };
import { createBackup } from "../../backup/create-backup.ts";
import { connectShared, openSharedSource } from "../../backup/shared/shared-source.ts";
import type { Config } from "../../config/config.ts";
import { loadLanceDb } from "../../native/lancedb.ts";
import { describeBackup, readLock } from "../backup-options.ts";
import { type Context, examples } from "../context.ts";
import { createProgress } from "../progress.ts";
import { recordCommand } from "../stores.ts";
import { interruptible, say } from "../terminal.ts";

export function define(program: Command, { configure }: Context): void {
  /** Each value of `--encrypt`, `true` for one without a value. After such a one Commander forgets those before it. */
  const encrypt: (string | true)[] = [];
  program
    .command("backup")
    .argument("<folder>", "a new or empty folder, preferably on another disk")
    .summary("copy all data, also while the server runs")
    .description(
      "Copies everything in the data folder as of one moment, also while the server runs. When the command ends, every file is on the disk with its checksum; a folder without backup.json is not a complete backup. Keep a backup as safe as the data: it contains all memories. An encrypted one (age-encryption.org) can be kept anywhere.",
    )
    .option(
      "--encrypt [recipient]",
      "encrypt to a recipient (age1..., repeatable); without a value, with a passphrase that is asked for or read as one line of standard input",
    )
    .on("option:encrypt", (recipient: string | null) => encrypt.push(recipient ?? true))
    .addHelpText(
      "after",
      examples(
        "ctxd backup /mnt/usb/ctxd-2027-01-31",
        "ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt",
        "ctxd backup /mnt/usb/ctxd-2027-01-31 --encrypt age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
      ),
    )
    .action((folder: string) => backUp(configure(), folder, encrypt.length > 0 ? encrypt : null));
}

async function backUp(config: Config, target: string, encrypt: (string | true)[] | null) {
  const { dataDir, cacheDir, backupRecipients, shared } = config;
  const folder = resolve(target);
  const lock = await readLock(encrypt, backupRecipients);
  const lancedb = await loadLanceDb(cacheDir);
  const { onProgress, end } = createProgress();
  const manifest = await interruptible((signal) =>
    createBackup({
      dataDir,
      folder,
      version,
      lancedb,
      clock: Date.now,
      lock,
      signal,
      onProgress,
      ...(shared && { open: () => openSharedSource(connectShared(shared), dataDir) }),
    }),
  ).finally(end);
  await recordCommand(config, "backup_created", {
    accountId: null,
    subject: lock ? "encrypted" : null,
  });
  say(`Backed up ${describeBackup(manifest)} to ${folder}${lock ? ", encrypted" : ""}.`);
}
