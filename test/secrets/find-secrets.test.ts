import { expect, test } from "bun:test";
import { generateKey } from "../../src/keys/key-format.ts";
import { findSecrets } from "../../src/secrets/find-secrets.ts";
import gitleaks from "../../src/secrets/gitleaks.json";
import { maskSecrets } from "../../src/secrets/mask-secrets.ts";
import { listPatterns } from "./gitleaks.ts";

test("the patterns of gitleaks are those of the package", async () => {
  expect(JSON.parse(await listPatterns())).toEqual(gitleaks);
});

test("a secret is found where it stands, and what is around it stays", () => {
  const key = generateKey();
  const text = `Ada's key is ${key}. It is for the laptop.`;
  expect(findSecrets(text)).toEqual([{ kind: "ctxd-api-key", start: 13, end: 13 + key.length }]);
  expect(maskSecrets(text)).toBe("Ada's key is [masked: ctxd-api-key]. It is for the laptop.");
});

test("a text without secrets stays as it is", () => {
  const text = "The API keys are in the vault, and the password is changed each spring.";
  expect(findSecrets(text)).toEqual([]);
  expect(maskSecrets(text)).toBe(text);
});
