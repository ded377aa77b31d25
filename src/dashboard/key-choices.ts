import { AppError } from "../errors.ts";
import { FULL_ACCESS, type Scope } from "../keys/scopes.ts";

const DAY = 24 * 3_600_000;

/** Days until a new key expires, and what they are called. */
export const EXPIRY_CHOICES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

/** The choice for a key that a program keeps and nobody looks after. */
export const USUAL_EXPIRY = "365";

/**
 * When a key of the form expires.
 * @param days a whole number, or nothing for never
 * @param now milliseconds since 1970
 * @throws AppError `validation_failed`
 */
export function expiryOf(days: string | null, now: number): Date | null {
  if (!days) return null;
  if (!/^\d{1,4}$/.test(days)) {
    throw new AppError("validation_failed", "Choose one of the offered times of expiry.");
  }
  return new Date(now + Number(days) * DAY);
}

/** What a new key may do, and what that is called. */
export const SCOPE_CHOICES = [
  ["write", "Read and write"],
  ["read", "Read only"],
  ["add", "Save only"],
  ["read add", "Read and save, but neither change nor delete"],
] as const;

const SCOPES_OF: Record<(typeof SCOPE_CHOICES)[number][0], readonly Scope[]> = {
  write: FULL_ACCESS,
  read: ["memories:read"],
  add: ["memories:add"],
  "read add": ["memories:read", "memories:add"],
};

/**
 * The scopes of a key of the form.
 * @throws AppError `validation_failed`
 */
export function scopesOf(choice: string | null): readonly Scope[] {
  const [value] = SCOPE_CHOICES.find(([each]) => each === (choice ?? "write")) ?? [];
  if (value !== undefined) return SCOPES_OF[value];
  throw new AppError("validation_failed", "Choose one of the offered scopes.");
}
