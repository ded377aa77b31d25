import type { Account } from "../accounts/account.ts";
import type { Progress } from "../backup/create-backup.ts";
import type { ScheduleSettings } from "../backup/schedule-settings.ts";
import type { Config } from "../config/config.ts";

/** Facts about the running server that are not in its database. */
export interface ServerStatus {
  /** The command to type on the server's machine, in any folder, instead of `ctxd`. */
  readonly program: string;
  /** The same with arguments, such as `connect --all`, for this server's data folder. */
  command(words: string): string;
  /** Whether agents on this machine can use the local socket. They can't if the server runs in a container, for example. */
  readonly isForAgents: boolean;
  server(): ServerFacts;
  backups(): Promise<BackupFacts>;
  /** Makes a backup, unless one is being made. Resolves when it has ended, and never rejects. */
  createBackup(): Promise<void>;
  /** Changes where and when the server makes backups; null for never. @throws BackupError when that is refused */
  changeBackups(wanted: ScheduleSettings | null): Promise<void>;
}

export interface ServerFacts {
  readonly startedAt: Date;
  /** For example `Bun 1.4.5 on linux x64`. */
  readonly platform: string;
  readonly dataDir: string;
  /** The database of accounts, keys and the log of memories. */
  readonly database: "SQLite" | "PostgreSQL";
  /** Name of the embedding model. */
  readonly model: string;
  /** Bytes of memory that the process uses. */
  readonly memory: number;
  /** Bytes of the disk with the data folder; null if the system does not report them. */
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** Seconds since the oldest change that upkeep has not processed. */
  readonly lag: number;
}

export interface BackupFacts {
  /** Whether several servers share the data. Then none of them makes backups by itself. */
  readonly isShared: boolean;
  /** Null if the server makes no backups. */
  readonly schedule: (ScheduleSettings & { readonly isLate: boolean }) | null;
  /** Whether the environment has the settings, so that they can't be changed here. */
  readonly isFixed: boolean;
  /** Recipients that the environment has, for all backups. */
  readonly recipients: readonly string[];
  /** A folder to suggest to the owner; may be empty. */
  readonly suggested: string;
  /** The backup that is being made, since when, and what of it is done. */
  readonly running: { readonly at: number; readonly done: Parameters<Progress>[0] | null } | null;
  /** Why the last backup failed, and when. */
  readonly failure: { readonly at: number; readonly message: string } | null;
  /** Complete backups, newest first. */
  readonly complete: readonly { readonly folder: string; readonly at: number }[];
  /** Why the backups can't be listed; null if they can. */
  readonly problem: string | null;
}

/** The options of `ctxd connect` that set up capture and recall. */
export const HOOK_OPTIONS = "--recall --capture";

export type ConnectCommand = ReturnType<typeof connectCommand>;

/**
 * The command that connects the agents of an account, as a person types it. The owner's agents on the server's machine use the local socket; all others use the
 * server's address.
 * @param words after `ctxd`, such as `connect --all`
 * @returns the command, and whether it uses the local socket, which needs no key
 */
export function connectCommand(
  { config: { publicUrl }, serverStatus }: Server,
  { role }: Pick<Account, "role">,
  words: string,
) {
  const isHere = role === "owner" && isLocal(publicUrl) && (serverStatus?.isForAgents ?? true);
  if (!isHere) return { isHere, command: `ctxd ${words} --url ${publicUrl}` };
  return { isHere, command: serverStatus?.command(words) ?? `ctxd ${words}` };
}

interface Server {
  config: Pick<Config, "publicUrl">;
  /** Null if the program does not report its status. */
  serverStatus: Pick<ServerStatus, "command" | "isForAgents"> | null;
}

/** Whether only programs on the server's machine can reach an address. */
export function isLocal(publicUrl: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(new URL(publicUrl).hostname);
}
