import { AppError } from "../errors.ts";

/** What is said where no account has an id. */
export function unknownAccount(): AppError {
  return new AppError("not_found", "No account with this id.");
}
