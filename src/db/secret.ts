import { timingSafeEqual } from "node:crypto";

/** A new secret: a prefix that names its kind, and 32 random bytes in base64url. */
export function createSecret(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(32));
  return prefix + random.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The hash that is stored instead of a secret. A fast hash is enough: secrets have at least 128 random bits. */
export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
}
