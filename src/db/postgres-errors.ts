import { AppError } from "../errors.ts";

/** PostgreSQL can't be asked now. It is tried again by the next statement. */
export class DatabaseUnavailable extends AppError {
  override readonly name: string = "DatabaseUnavailable";
  constructor(
    message = "The database can't be reached now. Try again in a moment.",
    options: { cause?: unknown } = {},
  ) {
    super("unavailable", message, { ...options, retryAfter: 2 });
  }
}

/** The answer to a write was lost: it may have been made, now or in a moment, or not. */
export class OutcomeUnknown extends DatabaseUnavailable {
  override readonly name = "OutcomeUnknown";
  constructor(cause: unknown) {
    const message =
      "The connection to the database was lost: this may have been done, or not. Look before you do it again; with the same Idempotency-Key it is done once.";
    super(message, { cause });
  }
}

/**
 * The code of an error that PostgreSQL has answered (Appendix A of its manual, "PostgreSQL Error
 * Codes"), wherever it is among the causes; `null` of another error.
 */
export function sqlState(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("errno" in at && typeof at.errno === "string" && /^[0-9A-Z]{5}$/.test(at.errno)) {
      return at.errno;
    }
  }
  return null;
}

/** Whether a transaction met another one, and may succeed when it is made again. */
export function isSerializationFailure(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** States that end or refuse a connection before a statement is run. */
const REFUSED = /^(28|3D|53300$|57P03$|57P05$|08001$|08004$)/;
/** States with which a connection may end while a statement runs. */
const CUT_OFF = /^(08|57P01$|57P02$|58)/;
/** States that undo a statement because the server can't do it now: too long, no space, read-only. */
const NOT_NOW = /^(25006$|25P03$|25P04$|53|55P03$|57014$)/;
/** What Bun's client reports when it never had a connection. */
const NEVER_CONNECTED =
  /^ERR_POSTGRES_(CONNECTION_REFUSED|CONNECTION_TIMEOUT|AUTHENTICATION|PASSWORD|TLS|UNSUPPORTED|UNKNOWN_AUTH|SASL)/;

/** What an error of a statement means; one that the statement itself is to blame for stays as it is. */
export function explainPostgresError(error: unknown, isWrite: boolean): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const state = sqlState(error);
  const code = "code" in error ? String(error.code) : "";
  if (state === null && !code.startsWith("ERR_POSTGRES_")) return error;
  // What can be looked up is kept in an index, which takes no more than 2,704 bytes of it.
  if (state === "54000") {
    const message = "A text is too long for the database to look it up: use a shorter one.";
    return new AppError("validation_failed", message, { cause: error });
  }
  const neverBegan = state === null ? NEVER_CONNECTED.test(code) : REFUSED.test(state);
  if (neverBegan || (state !== null && NOT_NOW.test(state))) {
    return new DatabaseUnavailable(undefined, { cause: error });
  }
  if (state !== null && !CUT_OFF.test(state)) return error;
  return isWrite ? new OutcomeUnknown(error) : new DatabaseUnavailable(undefined, { cause: error });
}
