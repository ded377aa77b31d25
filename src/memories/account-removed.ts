import { AppError } from "../errors.ts";

/** The answer to requests of an account that has been removed. */
export function accountRemoved(): AppError {
  return new AppError("not_found", "This account has been removed.");
}
