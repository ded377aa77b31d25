import { expect, test } from "bun:test";
import { generateKey } from "../../src/keys/new-key.ts";
import { findSecrets, maskSecrets } from "../../src/secrets/find-secrets.ts";
import gitleaks from "../../src/secrets/gitleaks.json";
import { listPatterns } from "./gitleaks.ts";
import { harmless } from "./harmless.ts";
import { samples, shaped } from "./samples.ts";

/** Seeds of the random samples: other texts of the same kinds, the same in each run. */
const SEEDS = [1, 2, 3, 4];

test("gitleaks.json has the patterns of the gitleaks package", async () => {
  expect(JSON.parse(await listPatterns())).toEqual(gitleaks);
});

test("a secret is found at its position, and the text around it stays", () => {
  const key = generateKey();
  const text = `Ada's key is ${key}. It is for the laptop.`;
  expect(findSecrets(text)).toEqual([{ kind: "ctxd-api-key", start: 13, end: 13 + key.length }]);
  expect(maskSecrets(text)).toBe("Ada's key is [masked: ctxd-api-key]. It is for the laptop.");
});

test("a text without secrets is not changed", () => {
  const text = "The API keys are in the vault, and the password is changed each spring.";
  expect(findSecrets(text)).toEqual([]);
  expect(maskSecrets(text)).toBe(text);
});

test("secrets of more than a hundred kinds are masked completely", () => {
  expect(Object.keys(shaped(1)).length).toBeGreaterThan(100);
  for (const { name, secret, text } of SEEDS.flatMap(samples)) {
    const masked = maskSecrets(text);
    // The secret part of an address is its end.
    const parts = secret.match(/[\w+/=.~!#%&*-]{8,}/g) ?? [];
    const opens = parts.findLast((part) => part.length >= 8) ?? secret;
    expect({ name, masked, has: masked.includes(opens.slice(-8)) }).toMatchObject({ has: false });
    expect({ name, again: maskSecrets(masked) }).toEqual({ name, again: masked });
  }
});

test("at most one of 200 harmless texts is masked", async () => {
  const texts = await harmless();
  expect(texts.length).toBeGreaterThan(1_000);
  const flagged = texts.filter((text) => findSecrets(text).length > 0);
  expect(flagged.slice(0, Math.max(0, flagged.length - texts.length / 200))).toEqual([]);
});

test.each([
  "-----BEGIN PRIVATE KEY-----",
  "-----BEGIN PRIVATE KEY-----\nAAAA",
  "ey_-",
  "eyA.",
  "://a:b",
  "password for a ",
  "api key ",
  "otpauth://.",
  "sk-ant-",
])("eight times as much of %j takes about eight times as long", (part) => {
  const minimumTime = (length: number) => {
    const text = part.repeat(length / part.length);
    const times = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      findSecrets(text);
      // The kernel measures the sum, and only estimates how it divides: either part may be 0.
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.max(500, Math.min(...times));
  };
  // A quadratic search would take 64 times as long.
  expect(minimumTime(64_000) / minimumTime(8_000)).toBeLessThan(32);
});
