import { AppError, type ErrorDetail } from "../errors.ts";
import { hasHidden } from "../text/plain-text.ts";
import { boundProblem } from "./project-bound.ts";
import type { Bound } from "./reach.ts";
import type { Scope } from "./scopes.ts";

/** The fields of a new key. With `expiresAt: null` it is valid until it is revoked. */
export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** The project that the key is bound to; by default none. */
  readonly bound?: Bound | null;
}

const MAX_NAME_LENGTH = 100;

/**
 * Validates the fields of a new key, and trims its name.
 * @param now milliseconds since 1970
 * @throws AppError `validation_failed`
 */
export function parseNewKey(
  { name: typed, scopes, expiresAt, bound: wanted = null }: NewKey,
  now: number,
): Required<NewKey> {
  const name = typed.trim();
  const bound = wanted && { ...wanted, project: wanted.project.trim() };
  const length = [...name].length;
  const details: ErrorDetail[] = [];
  // Control characters would reach the terminal of a person who lists the keys.
  if (length < 1 || length > MAX_NAME_LENGTH || hasHidden(name)) {
    details.push({
      path: "/name",
      message: `A key's name has 1 to ${MAX_NAME_LENGTH} characters and no control characters.`,
    });
  }
  if (scopes.length === 0) {
    details.push({ path: "/scopes", message: "A key has at least one scope." });
  }
  // An invalid date compares as false.
  if (expiresAt !== null && !(expiresAt.getTime() > now)) {
    details.push({ path: "/expires_at", message: "The time must be in the future." });
  }
  const unbound = boundProblem(bound);
  if (unbound) details.push(unbound);
  if (details.length > 0) {
    const message = details.map((detail) => detail.message).join(" ");
    throw new AppError("validation_failed", message, { details });
  }
  return { name, scopes, expiresAt, bound };
}
