import { AppError } from "../../errors.ts";
import { FULL_ACCESS, type Scope } from "../../keys/scopes.ts";

const DAY = 24 * 3_600_000;

/** Choices of the form: days until a new key expires, and their labels. */
export const EXPIRY_CHOICES = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

/** The default for a key of an agent. */
export const AGENT_EXPIRY = "365";

/**
 * When a new key expires.
 * @param days a whole number; empty for never
 * @param now milliseconds since 1970
 * @throws AppError `validation_failed`
 */
export function expiryOf(days: string | null, now: number): Date | null {
  if (!days) return null;
  if (!/^\d{1,4}$/.test(days)) {
    throw new AppError("validation_failed", "Choose one of the expiry times in the list.");
  }
  return new Date(now + Number(days) * DAY);
}

/** Choices of the form: the scope of a new key, and their labels. */
export const SCOPE_CHOICES = [
  ["write", "Read and write"],
  ["read", "Read only"],
  ["add", "Save only"],
  ["read add", "Read and save, but not change or delete"],
] as const;

const SCOPES_OF: Record<(typeof SCOPE_CHOICES)[number][0], readonly Scope[]> = {
  write: FULL_ACCESS,
  read: ["memories:read"],
  add: ["memories:add"],
  "read add": ["memories:read", "memories:add"],
};

/**
 * The scopes of a new key.
 * @throws AppError `validation_failed`
 */
export function scopesOf(choice: string | null): readonly Scope[] {
  const [value] = SCOPE_CHOICES.find(([each]) => each === (choice ?? "write")) ?? [];
  if (value !== undefined) return SCOPES_OF[value];
  throw new AppError("validation_failed", "Choose one of the scopes in the list.");
}
