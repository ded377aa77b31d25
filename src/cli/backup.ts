import { resolve } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { createBackup } from "../backup/create-backup.ts";
import type { Manifest } from "../backup/manifest.ts";
import { connectShared } from "../backup/shared/connect.ts";
import { openSharedSource } from "../backup/shared/shared-source.ts";
import type { Config } from "../config.ts";
import { loadLanceDb } from "../native/lancedb.ts";
import { readLock } from "./encryption.ts";
import { interruptible } from "./interruption.ts";
import { createProgress } from "./progress.ts";
import { recordCommand } from "./stores.ts";
import { say } from "./terminal.ts";

/**
 * `ctxd backup FOLDER`
 * @param encrypt what `--encrypt` was given each time, `true` for nothing
 */
export async function backUp(
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
  say(`Backed up ${describe(manifest)} to ${folder}${lock ? ", encrypted" : ""}.`);
}

/** What a backup holds, as a person counts it. */
export function describe({ accounts, tables, files }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${count(accounts, "account")}, ${count(tables, "table")} of memories`,
    `${count(files.length, "file")} (${size})`,
  ].join(", ");
}

/** A number of things, such as `2 keys`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
