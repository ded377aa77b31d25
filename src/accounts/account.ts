import { AppError } from "../errors.ts";

/** An account without its secrets. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly createdAt: Date;
  /** When it was disabled; null for an enabled account. */
  readonly disabledAt: Date | null;
}

/** The fields of a new account. `password: null` creates one without a password. */
export interface NewAccount {
  readonly email: string;
  readonly password: string | null;
}

/** The error for an id that no account has. */
export function unknownAccount(): AppError {
  return new AppError("not_found", "No account with this id.");
}
