import { AppError, type ErrorDetail } from "../errors.ts";
import { boundProblem } from "./project-bound.ts";
import type { Bound } from "./reach.ts";
import type { Scope } from "./scopes.ts";

/** What a new key is made of; `expiresAt: null` makes one that holds until it is revoked. */
export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** The project that it is bound to; by default none. */
  readonly bound?: Bound | null;
}

const MAX_NAME_LENGTH = 100;

/**
 * Checks what a new key is made of, and trims its name.
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
  // Control characters would reach the terminal of whoever lists the keys.
  if (length < 1 || length > MAX_NAME_LENGTH || /[\p{Cc}\u2028\u2029]/u.test(name)) {
    details.push({
      path: "/name",
      message: `A key's name has 1 to ${MAX_NAME_LENGTH} characters and no control characters.`,
    });
  }
  if (scopes.length === 0) {
    details.push({ path: "/scopes", message: "A key has at least one scope." });
  }
  // A broken date compares false with everything.
  if (expiresAt !== null && !(expiresAt.getTime() > now)) {
    details.push({ path: "/expires_at", message: "A key expires at a time to come." });
  }
  const unbound = boundProblem(bound);
  if (unbound) details.push(unbound);
  if (details.length > 0) {
    const message = details.map((detail) => detail.message).join(" ");
    throw new AppError("validation_failed", message, { details });
  }
  return { name, scopes, expiresAt, bound };
}
