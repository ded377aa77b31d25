import { expect, test } from "bun:test";
import {
  codeOf,
  createTotpSecret,
  stepAt,
  toBase32,
  totpAddress,
} from "../../src/sign-in/second-step/one-time-codes.ts";
import { createCodeApp } from "../support/code-app.ts";

/** Test vectors of RFC 6238, appendix B, with eight digits. A code of six digits has the last six. */
const SECRET = new TextEncoder().encode("12345678901234567890");

test.each([
  [59, "94287082"],
  [1_111_111_109, "07081804"],
  [1_111_111_111, "14050471"],
  [1_234_567_890, "89005924"],
  [2_000_000_000, "69279037"],
  [20_000_000_000, "65353130"],
])("at %d s the code is the RFC's", (seconds, code) => {
  expect(codeOf(SECRET, stepAt(seconds * 1_000))).toBe(code.slice(2));
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%p in base32 is that of RFC 4648", (text, base32) => {
  expect(toBase32(new TextEncoder().encode(text))).toBe(base32);
});

test("a secret has the length that the RFC requires, and an app decodes it", () => {
  const secret = createTotpSecret();
  expect(secret).toHaveLength(20);
  expect(toBase32(secret)).toMatch(/^[A-Z2-7]{32}$/);
  const app = createCodeApp(toBase32(secret), () => 90_000);
  expect(app.code()).toBe(codeOf(secret, 3));
});

test("the otpauth address escapes the issuer and the e-mail address", () => {
  const address = new URL(
    totpAddress(SECRET, { issuer: "ctxd (a&b)", email: "you+x&secret=y@example.com" }),
  );
  expect(address.protocol).toBe("otpauth:");
  expect(Object.fromEntries(address.searchParams)).toEqual({
    secret: toBase32(SECRET),
    issuer: "ctxd (a&b)",
  });
});
