import { AppError } from "../errors.ts";

/** PostgreSQL can't be used now. The next statement tries again. */
export class DatabaseUnavailable extends AppError {
  override readonly name: string = "DatabaseUnavailable";
  constructor(
    message = "The database can't be reached now. Try again in a moment.",
    options: { cause?: unknown } = {},
  ) {
    super("unavailable", message, { ...options, retryAfter: 2 });
  }
}

/** The answer to a write was lost. The write may have been made, may still be made, or may be lost. */
export class OutcomeUnknown extends DatabaseUnavailable {
  override readonly name = "OutcomeUnknown";
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
  const code = "code" in error ? String(error.code) : "";
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
