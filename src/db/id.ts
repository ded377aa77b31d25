import { timingSafeEqual } from "node:crypto";
import { hashOf } from "../system/file-digest.ts";

/**
 * A new id such as `acc_0197f2c4e0b47c3a9a1d5b8e2f60c711`: its kind and a UUIDv7 in hex (RFC 9562). Ids
 * of one kind sort by the time of their creation.
 * @param now milliseconds since 1970
 */
export function createId(kind: string, now: number): string {
  return `${kind}_${Bun.randomUUIDv7("hex", now).replaceAll("-", "")}`;
}

/**
 * The id of an imported item. The same text always has the same id, so importing it again creates no
 * duplicate. It is a UUIDv8 (RFC 9562, section 5.8) of the text's SHA-256.
 * @param text or its hasher
 */
export function createIdFrom(kind: string, text: string | Bun.CryptoHasher): string {
  const hash = typeof text === "string" ? new Bun.CryptoHasher("sha256").update(text) : text;
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `${kind}_${bytes.toString("hex")}`;
}

/** A new secret: a prefix that names its kind, and 32 random bytes in base64url. */
export function createSecret(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(32));
  return prefix + random.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The hash that is stored instead of a secret. A fast hash is enough: secrets have at least 128 random bits. */
export function hashSecret(secret: string): string {
  return hashOf(secret);
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(one)), Buffer.from(hashSecret(other)));
}
