import type { Progress } from "./create-backup.ts";
import type { EndedAccess } from "./end-access.ts";
import { type AskToUnlock, openBackup } from "./open-backup.ts";
import { verifyFiles } from "./verify-files.ts";

/** Options of a restore, to a data folder or to a shared database. */
export interface RestoreOptions {
  /** Path of the backup. */
  folder: string;
  dataDir: string;
  /** Asks for the key of an encrypted backup; null when only unencrypted ones are expected. */
  unlock?: AskToUnlock | null;
  /** Whether to refuse an unencrypted backup. */
  isExpectedSealed?: boolean;
  /** Whether to revoke API keys and the grants of apps. */
  revokeKeys?: boolean;
  /** Milliseconds since 1970. */
  clock?: () => number;
  signal?: AbortSignal | undefined;
  onProgress?: Progress;
  onAccessEnded?: (ended: EndedAccess) => void;
}

/**
 * Opens a backup and checks all its files against the manifest.
 * @throws BackupError with one sentence for the user
 */
export async function openVerified({
  folder,
  unlock = null,
  isExpectedSealed = false,
  signal,
  onProgress = () => {},
}: RestoreOptions) {
  const backup = await openBackup(folder, unlock, isExpectedSealed);
  await verifyFiles(folder, backup, { signal, onProgress });
  return backup;
}
