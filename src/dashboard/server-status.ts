/** What the program that runs a server knows of it, beside what is in its database. */
export interface ServerStatus {
  /** What a person types on the server's machine in the place of `ctxd`. */
  readonly program: string;
  /** The same with words after it, such as `connect --all`, for this server's data. */
  command(words: string): string;
  /** Whether agents on this machine reach the server without a key: not from outside of a container, say. */
  readonly isForAgents: boolean;
  server(): ServerFacts;
  backups(): Promise<BackupFacts>;
}

export interface ServerFacts {
  readonly startedAt: Date;
  /** What runs the program: `Bun 1.4.5 on linux x64`. */
  readonly platform: string;
  readonly dataDir: string;
  /** What has accounts, keys and the log of memories. */
  readonly database: "SQLite" | "PostgreSQL";
  /** Name of the model that makes vectors. */
  readonly model: string;
  /** Bytes of memory that the process has. */
  readonly memory: number;
  /** Bytes of the disk with the data folder; null where that can't be asked. */
  readonly disk: { readonly free: number; readonly total: number } | null;
  /** Seconds since the oldest change that upkeep has not seen to. */
  readonly lag: number;
}

export interface BackupFacts {
  /** Whether several servers share the data, which none of them backs up by itself. */
  readonly isShared: boolean;
  /** Null where none are made on a schedule. */
  readonly schedule: {
    readonly folder: string;
    /** Milliseconds between two. */
    readonly every: number;
    readonly keep: number;
    readonly isEncrypted: boolean;
    readonly isLate: boolean;
  } | null;
  /** Those of the schedule, the newest first. */
  readonly complete: readonly { readonly folder: string; readonly at: number }[];
  /** Why they can't be listed. */
  readonly problem: string | null;
}
