import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Config } from "../config/config.ts";
import { errorCode } from "../errors.ts";
import { replaceFile } from "../system/files.ts";
import { parsed } from "../text/parse-json.ts";
import { checkRecipients } from "./age.ts";
import { BackupError, explainFailure } from "./backup-error.ts";
import { isWithin } from "./manifest.ts";

const Settings = Type.Object({
  folder: Type.String({ minLength: 1 }),
  every: Type.Union([Type.Integer({ minimum: 60_000 }), Type.Null()]),
  keep: Type.Integer({ minimum: 1, maximum: 9999 }),
  recipients: Type.Array(Type.String()),
});

/** Where the server makes backups, and when. */
export interface ScheduleSettings {
  readonly folder: string;
  /** Milliseconds between two backups; null if the server makes one only when somebody asks for it. */
  readonly every: number | null;
  /** How many are kept. */
  readonly keep: number;
  /** age recipients (`age1…`) that backups are encrypted for; none for unencrypted backups. */
  readonly recipients: readonly string[];
}

const pathOf = (dataDir: string) => join(dataDir, "backups.json");

/**
 * The settings of the environment, otherwise those that the owner chose in the dashboard; null without any. Replicas make
 * no backups.
 * @throws BackupError when the file with the choice can't be read or is damaged
 */
export async function readSchedule({
  backups,
  backupRecipients: recipients,
  dataDir,
  shared,
}: Pick<
  Config,
  "backups" | "backupRecipients" | "dataDir" | "shared"
>): Promise<ScheduleSettings | null> {
  if (backups) return { ...backups, recipients };
  if (shared) return null;
  const path = pathOf(dataDir);
  const text = await readFile(path, "utf8").catch((cause) => {
    if (errorCode(cause) === "ENOENT") return null;
    throw new BackupError(`${path} can't be read (${errorCode(cause)}).`, { cause });
  });
  if (text === null) return null;
  const chosen = parsed(text);
  if (Value.Check(Settings, chosen)) {
    return recipients.length > 0 ? { ...chosen, recipients } : chosen;
  }
  throw new BackupError(
    `${path} is damaged: remove it, and choose the backups in the dashboard again.`,
  );
}

/**
 * Checks settings, and stores them for the next start.
 * @param settings null for no more backups
 * @throws BackupError with one sentence about the folder or the recipients
 */
export async function writeSchedule(
  dataDir: string,
  settings: ScheduleSettings | null,
): Promise<void> {
  const path = pathOf(dataDir);
  if (settings === null) return await rm(path, { force: true });
  await checkRecipients(settings.recipients);
  await checkFolder(settings.folder, dataDir);
  await replaceFile(path, `${JSON.stringify(settings)}\n`, { isDurable: true });
}

/** Creates the folder unless it is there, and tries whether it can be written. */
async function checkFolder(folder: string, dataDir: string): Promise<void> {
  if (!isAbsolute(folder)) {
    throw new BackupError("Enter the whole path of the folder, such as /mnt/usb/ctxd.");
  }
  if (await isWithin(folder, dataDir)) {
    throw new BackupError(
      `${folder} is inside the data folder: choose a place outside it, preferably on another disk.`,
    );
  }
  const probe = join(folder, `.ctxd-${crypto.randomUUID()}`);
  await explainFailure(folder, "written", async () => {
    await mkdir(folder, { mode: 0o700 }).catch((cause) => {
      if (errorCode(cause) === "EEXIST") return;
      if (errorCode(cause) !== "ENOENT") throw cause;
      const message = `${dirname(resolve(folder))} does not exist: is its disk mounted? Choose a folder in one that is there.`;
      throw new BackupError(message, { cause });
    });
    await writeFile(probe, "", { flag: "wx" });
    await rm(probe);
  });
}
