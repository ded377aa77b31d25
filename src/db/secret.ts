import { timingSafeEqual } from "node:crypto";

/** A new secret: what it is for, and 32 random bytes in base64url. */
export function createSecret(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(32));
  return prefix + random.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** What is kept of a secret that has at least 128 random bits, for which a fast hash is enough. */
export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}

/** Compares in a time that does not tell where two texts differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
}
