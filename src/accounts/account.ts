import { AppError } from "../errors.ts";
import type { AccountTables } from "./tables.ts";

/** An account without its secrets. */
export type Account = Omit<AccountTables["accounts"]["$inferSelect"], "passwordHash">;

/** The fields of a new account. `password: null` creates one without a password. */
export interface NewAccount {
  readonly email: string;
  readonly password: string | null;
}

/** The error for an id that no account has. */
export function unknownAccount(): AppError {
  return new AppError("not_found", "No account with this id.");
}

/**
 * The pattern of `<input type="email">`, so that the dashboard and the command line accept the same:
 * https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address. It accepts ASCII only, which
 * excludes look-alikes and control characters.
 */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The longest address that SMTP allows (RFC 5321, section 4.5.3.1.3, without the brackets). */
const MAX_LENGTH = 254;

/**
 * The address of the owner whom a local agent created. No other account can have it, and nobody can sign in with it.
 */
export const LOCAL_ADDRESS = "local@localhost";

/**
 * The stored form of an address: trimmed, in lower case. It is not validated. No stored address has other
 * characters than ASCII. They are kept, so that such an address is nobody's: `toLowerCase` turns the Kelvin
 * sign (U+212A) into a k, and `trim` removes spaces that another mailbox may have.
 */
export function normaliseEmail(email: string): string {
  return /\P{ASCII}/u.test(email) ? email : email.trim().toLowerCase();
}

/**
 * Validates an address that a person typed, and returns its stored form.
 * @throws AppError `validation_failed` for a text that is no e-mail address, and for the local owner's
 */
export function parseEmail(typed: string): string {
  const email = normaliseEmail(typed);
  if (email.length <= MAX_LENGTH && EMAIL.test(email) && email !== LOCAL_ADDRESS) return email;
  const message =
    email === LOCAL_ADDRESS
      ? `${LOCAL_ADDRESS} belongs to the local agents of this machine: use another e-mail address.`
      : `This is not an e-mail address: use one like you@example.com, at most ${MAX_LENGTH} characters.`;
  throw new AppError("validation_failed", message, { details: [{ path: "/email", message }] });
}
