import type { Progress } from "./create-backup.ts";
import type { EndedAccess } from "./end-access.ts";
import { type AskToUnlock, openBackup } from "./open-backup.ts";
import { verifyFiles } from "./verify-files.ts";

/** What a restore is told, wherever the backup goes. */
export interface RestoreOptions {
  /** Of the backup. */
  folder: string;
  dataDir: string;
  /** Gets what opens an encrypted backup; null where none is expected. */
  unlock?: AskToUnlock | null;
  /** Whether a backup that is not encrypted is refused. */
  isExpectedSealed?: boolean;
  /** Whether API keys and what was allowed to apps end too. */
  revokeKeys?: boolean;
  /** Milliseconds since 1970. */
  clock?: () => number;
  signal?: AbortSignal | undefined;
  onProgress?: Progress;
  onAccessEnded?: (ended: EndedAccess) => void;
}

/**
 * Opens a backup whose files are all as its manifest says.
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
