import { expect, test } from "bun:test";
import { generateKey, isWellFormed } from "../../src/keys/new-key.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("a key is ctx_ and 43 characters of base62, never the same twice", () => {
  const keys = Array.from({ length: 1_000 }, generateKey);
  for (const key of keys) {
    expect(key).toMatch(/^ctx_[0-9A-Za-z]{43}$/);
    expect(isWellFormed(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(keys.length);
});

test("the checksum is the CRC-32 of what precedes, in base62", () => {
  // CRC-32 by its definition (reflected polynomial 0xEDB88320), bit by bit.
  const crc32 = (text: string) => {
    let crc = 0xffffffff;
    for (const byte of new TextEncoder().encode(text)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return (crc ^ 0xffffffff) >>> 0;
  };
  for (let round = 0; round < 100; round++) {
    const key = generateKey();
    const checksum = [...key.slice(-6)].reduce(
      (sum, digit) => sum * 62 + ALPHABET.indexOf(digit),
      0,
    );
    expect(checksum).toBe(crc32(key.slice(0, -6)));
  }
});

test("the checksum detects any single mistyped character", () => {
  const key = generateKey();
  for (let position = 0; position < key.length; position++) {
    for (const wrong of ALPHABET) {
      if (wrong === key[position]) continue;
      const typo = key.slice(0, position) + wrong + key.slice(position + 1);
      expect(isWellFormed(typo)).toBe(false);
    }
  }
});

test("the checksum detects two swapped neighbours", () => {
  const key = generateKey();
  for (let position = 4; position < key.length - 1; position++) {
    const [first = "", second = ""] = key.slice(position, position + 2);
    if (first === second) continue;
    const swapped = key.slice(0, position) + second + first + key.slice(position + 2);
    expect(isWellFormed(swapped)).toBe(false);
  }
});

test.each(["", "ctx_", "ctx_ ", "ghp_", "key\n", "ctx_'; DROP TABLE api_keys; --", "\u0000"])(
  "%j is not a key",
  (text) => {
    expect(isWellFormed(text)).toBe(false);
  },
);

test("a key with other characters around it is not a key", () => {
  const key = generateKey();
  for (const text of [` ${key}`, `${key}\n`, `${key}0`, key.slice(0, -1), key.toUpperCase()]) {
    expect(isWellFormed(text)).toBe(false);
  }
});

test("all characters are equally likely at every position of the secret", () => {
  const rounds = 6_200;
  const counts = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    for (const digit of generateKey().slice(4, 41)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  }
  const expected = (rounds * 37) / 62;
  // The standard deviation is about 60 of 3,700. A deviation of eight times that does not happen by chance.
  for (const digit of ALPHABET) {
    expect(Math.abs((counts.get(digit) ?? 0) - expected)).toBeLessThan(8 * Math.sqrt(expected));
  }
});
