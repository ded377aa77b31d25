import { AppError, type ErrorDetail } from "../errors.ts";
import { hasHidden } from "../text/plain-text.ts";
import { type Bound, boundProblem } from "./reach.ts";
import type { Scope } from "./scopes.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);
const PREFIX = "ctx_";
const SECRET_LENGTH = 37;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Creates an API key: `ctx_`, 37 characters of base62 and a checksum of 6. The secret is 32 random
 * bytes modulo 62^37, which is 220 bits. The probabilities of two values differ by at most 2^-35.
 */
export function generateKey(): string {
  const random = BigInt(`0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`);
  const secret = PREFIX + encode(random, SECRET_LENGTH);
  return secret + checksum(secret);
}

/** Whether a text can be a key. It detects mistyped and invented keys without the database. */
export function isWellFormed(key: string): boolean {
  return (
    SHAPE.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH)
  );
}

/**
 * CRC-32 of the characters before it, in base62, as in GitHub's tokens:
 * https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
 */
function checksum(text: string): string {
  return encode(BigInt(Bun.hash.crc32(text)), CHECKSUM_LENGTH);
}

/** The last `length` digits of a number in base62, padded with zeros. */
function encode(number: bigint, length: number): string {
  let digits = "";
  for (let rest = number; digits.length < length; rest /= BASE) {
    digits = ALPHABET.charAt(Number(rest % BASE)) + digits;
  }
  return digits;
}

/** The fields of a new key. With `expiresAt: null` it is valid until it is revoked. */
export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  /** The project that the key is bound to; by default none. */
  readonly bound?: Bound | null;
  /** The only space that it reaches, of which the person is a member; by default none. */
  readonly spaceId?: string | null;
}

const MAX_NAME_LENGTH = 100;

/**
 * Validates the fields of a new key, and trims its name.
 * @param now milliseconds since 1970
 * @throws AppError `validation_failed`
 */
export function parseNewKey(
  { name: typed, scopes, expiresAt, bound: wanted = null, spaceId = null }: NewKey,
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
  return { name, scopes, expiresAt, bound, spaceId };
}
