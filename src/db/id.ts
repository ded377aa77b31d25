/**
 * A new identity such as `acc_0197f2c4e0b47c3a9a1d5b8e2f60c711`: what it names, and a UUIDv7 in hex
 * (RFC 9562), so that identities sort by the time they were made.
 * @param now milliseconds since 1970
 */
export function createId(kind: string, now: number): string {
  return `${kind}_${Bun.randomUUIDv7("hex", now).replaceAll("-", "")}`;
}

/**
 * The identity of what comes from elsewhere: always the same for the same text, so that bringing it
 * in again makes no second one. A UUIDv8 (RFC 9562, section 5.8) of the text's SHA-256.
 */
export function createIdFrom(kind: string, text: string): string {
  const bytes = new Bun.CryptoHasher("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `${kind}_${bytes.toString("hex")}`;
}
