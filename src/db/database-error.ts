import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { AppError, CtxdError, errorCode } from "../errors.ts";

type Violation = "unique" | "foreign key";

const VIOLATIONS: Record<string, Violation> = {
  SQLITE_CONSTRAINT_UNIQUE: "unique",
  SQLITE_CONSTRAINT_PRIMARYKEY: "unique",
  SQLITE_CONSTRAINT_FOREIGNKEY: "foreign key",
  // PostgreSQL's SQLSTATE, class 23.
  "23505": "unique",
  "23503": "foreign key",
};

/** The constraint that an error of SQLite or PostgreSQL reports as violated; null for another error. */
export function constraintViolation(error: unknown): Violation | null {
  if (!(error instanceof Error)) return null;
  // Bun's PostgreSQL client has the SQLSTATE in `errno`.
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return VIOLATIONS[String(errno)] ?? VIOLATIONS[String(code)] ?? null;
}

/** PostgreSQL can't be used now. The next statement tries again. */
export class DatabaseUnavailable extends AppError {
  constructor(
    message = "The database can't be reached now. Try again in a moment.",
    options: { cause?: unknown } = {},
  ) {
    super("unavailable", message, { ...options, retryAfter: 2 });
  }
}

/** The answer to a write was lost. The write may have been made, may still be made, or may be lost. */
export class OutcomeUnknown extends DatabaseUnavailable {
  constructor(cause: unknown) {
    const message =
      "The connection to the database was lost, so this may or may not have been done. Check before you repeat it. With the same Idempotency-Key it is done only once.";
    super(message, { cause });
  }
}

/**
 * The SQLSTATE of an error that PostgreSQL returned (Appendix A of its manual, "PostgreSQL Error Codes"),
 * also when it is one of the causes; `null` for another error.
 */
export function sqlState(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("errno" in at && typeof at.errno === "string" && /^[0-9A-Z]{5}$/.test(at.errno)) {
      return at.errno;
    }
  }
  return null;
}

/** Whether a transaction conflicted with another one and may succeed when it is repeated. */
export function isSerializationFailure(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** SQLSTATEs that refuse or end a connection before a statement runs. */
const REFUSED = /^(28|3D|53300$|57P03$|57P05$|08001$|08004$)/;
/** SQLSTATEs with which a connection may end while a statement runs. */
const CUT_OFF = /^(08|57P01$|57P02$|58)/;
/** SQLSTATEs that undo a statement which the server can't run now: timeout, no space, read-only. */
const NOT_NOW = /^(25006$|25P03$|25P04$|53|55P03$|57014$)/;
/** Error codes of Bun's client when it never had a connection. */
const NEVER_CONNECTED =
  /^ERR_POSTGRES_(CONNECTION_REFUSED|CONNECTION_TIMEOUT|AUTHENTICATION|PASSWORD|TLS|UNSUPPORTED|UNKNOWN_AUTH|SASL)/;

/** Translates an error of a statement. An error that the statement itself caused is returned unchanged. */
export function explainPostgresError(error: unknown, isWrite: boolean): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const state = sqlState(error);
  const code = errorCode(error);
  if (state === null && !code.startsWith("ERR_POSTGRES_")) return error;
  // program_limit_exceeded: an index entry holds at most 2,704 bytes.
  if (state === "54000") {
    const message = "A text is too long for an index of the database: use a shorter one.";
    return new AppError("validation_failed", message, { cause: error });
  }
  const neverBegan = state === null ? NEVER_CONNECTED.test(code) : REFUSED.test(state);
  if (neverBegan || (state !== null && NOT_NOW.test(state))) {
    return new DatabaseUnavailable(undefined, { cause: error });
  }
  if (state !== null && !CUT_OFF.test(state)) return error;
  return isWrite ? new OutcomeUnknown(error) : new DatabaseUnavailable(undefined, { cause: error });
}

/**
 * The database can't be used. `message` is one sentence for the person who runs the program. It says
 * what is wrong with which file and what to do.
 */
export class DatabaseError extends CtxdError {
  readonly code = "database_unusable";
}

/** Explains why the database can't be reached, without its password. Other errors are returned as they are. */
export function explainUnavailable(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof DatabaseUnavailable)) return error;
  const { host, pathname, username } = new URL(databaseUrl);
  const state = sqlState(error) ?? "";
  if (state.startsWith("28") || /AUTH|PASSWORD|SASL/.test(errorCode(error.cause))) {
    return new DatabaseError(
      `PostgreSQL at ${host} refuses the user ${username || "of CTXD_DATABASE_URL"} or the password.`,
    );
  }
  if (state.startsWith("3D")) {
    return new DatabaseError(
      `PostgreSQL at ${host} has no database ${pathname.slice(1)}: create it.`,
    );
  }
  const reason = state || errorCode(error.cause);
  return new DatabaseError(
    `PostgreSQL at ${host} does not answer${reason && ` (${reason})`}: check the server and CTXD_DATABASE_URL.`,
  );
}

const CHOOSE = "choose another folder with --data-dir or CTXD_DATA_DIR";

/** Reasons by SQLite's result codes and the error codes of the file system. */
const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [
    /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    "can't be written because the disk is full: free some space and try again",
  ],
  [
    /^(SQLITE_NOTADB|SQLITE_CORRUPT)/,
    `is damaged or not a database of ctxd: restore a backup, or ${CHOOSE}`,
  ],
  [
    /^(SQLITE_BUSY|SQLITE_LOCKED)/,
    "is in use by another process: try again when that has finished",
  ],
  [/^EROFS/, `is on a read-only file system: make it writable, or ${CHOOSE}`],
  [
    /^(EACCES|EPERM|SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH)/,
    `can't be written, permission is denied: change its owner or mode, or ${CHOOSE}`,
  ],
  [/^(ENOTDIR|EEXIST)/, `can't be created because a file is where a folder should be: ${CHOOSE}`],
  [/^ENOENT/, `can't be created, because the system allows no new files there: ${CHOOSE}`],
  [/^(SQLITE_CANTOPEN|EISDIR|ENAMETOOLONG|ELOOP|EINVAL)/, `can't be opened: ${CHOOSE}`],
  [/^(SQLITE_IOERR|EIO)/, "can't be read or written: check the disk"],
];

/** Error codes when this user may not write. */
const DENIED = /^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH)/;

/**
 * Explains an error of SQLite or of the file system that occurred with the database at `path`; `null` for
 * an error of another kind, such as a violated constraint or a bug.
 */
export function explainDatabaseError(error: unknown, path: string): DatabaseError | null {
  if (error instanceof DatabaseError) return error;
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    return null;
  // SQLite reports only an I/O error when its shared-memory file does not fit on the disk.
  const code = /^SQLITE_IOERR/.test(error.code) && isFull(path) ? "SQLITE_FULL" : error.code;
  const foreign = DENIED.test(code) ? explainForeignFolder(dirname(path)) : null;
  if (foreign) return new DatabaseError(foreign, { cause: error });
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  return reason ? new DatabaseError(`The database ${path} ${reason}.`, { cause: error }) : null;
}

/**
 * Explains a folder that belongs to another user; `null` for other folders. Folders mounted into a
 * container often do, and nothing in the container shows it.
 */
function explainForeignFolder(folder: string): string | null {
  const [own, group] = [process.getuid?.(), process.getgid?.()];
  try {
    const { uid } = statSync(folder);
    if (own === undefined || uid === own) return null;
    accessSync(folder, constants.W_OK);
    return null;
  } catch (error) {
    if (errorCode(error) !== "EACCES") return null;
    return `The data folder ${folder} can't be written by the user that ctxd runs as (${own}): change its owner with chown -R ${own}:${group} (for a container, on the folder that is mounted there), or ${CHOOSE}.`;
  }
}

/** Whether the disk has less free space than one page of SQLite's shared-memory file takes. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < 32_768;
  } catch {
    return false;
  }
}
