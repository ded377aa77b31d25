import { AppError } from "../errors.ts";

/** The error for an id that no account has. */
export function unknownAccount(): AppError {
  return new AppError("not_found", "No account with this id.");
}
