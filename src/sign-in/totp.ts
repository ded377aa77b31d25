import { createHmac } from "node:crypto";

/** Milliseconds for which a code is shown, the default of all apps. */
export const STEP = 30_000;
const DIGITS = 6;
/** RFC 4226, section 4, requirement 6. */
const SECRET_BYTES = 20;

/** A new secret for an app that shows codes. */
export function createTotpSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
}

/** The step that a moment is in. @param now milliseconds since 1970 */
export function stepAt(now: number): number {
  return Math.floor(now / STEP);
}

/** The code of a step (RFC 6238, section 4; RFC 4226, section 5.3). */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** A secret as people type it into an app: base32 (RFC 4648, section 6) without padding. */
export function toBase32(bytes: Uint8Array): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

/**
 * The address that transfers a secret to an app
 * (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
 * @param issuer the name of the server in the app
 */
export function totpAddress(
  secret: Uint8Array,
  { issuer, email }: { issuer: string; email: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
