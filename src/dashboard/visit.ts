import { AppError } from "../errors.ts";
import type { SignedIn } from "../sign-in/sessions/visitor.ts";

/** A request for a page by a person who is signed in. */
export interface Visit extends SignedIn {
  /** The message that the last form left, which this page shows once. */
  readonly notice: string | null;
  readonly url: URL;
  /**
   * Checks the session again, during work that takes long.
   * @throws AppError `unauthorized` when the session has ended or the account is gone
   */
  readonly stillSignedIn: () => Promise<void>;
}

/** @throws AppError `forbidden` unless the person is the owner of the server */
export function requireOwner({ account }: Visit): void {
  if (account.role === "owner") return;
  throw new AppError("forbidden", "Only the owner of this server may open this page.");
}
