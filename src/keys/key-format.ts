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
