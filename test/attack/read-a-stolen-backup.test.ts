import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity } from "age-encryption";
import { ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { listFiles } from "../support/files.ts";
import { restore } from "../support/live-data.ts";
import {
  createEncryptedBackup,
  EMAIL,
  env,
  expectNothingIn,
  SECRET,
} from "./support/encrypted-backup.ts";

const PASSPHRASE = "violet anchor marble";

const backup = await createEncryptedBackup();
const { place, dataDir, backup: good, identity } = backup;
afterAll(() => backup[Symbol.dispose]());
const stranger = await generateX25519Identity();

test("an encrypted backup shows no memory and no e-mail address", async () => {
  const files = await listFiles(good);
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const content = readFileSync(join(good, file));
    for (const text of [SECRET, EMAIL, "accounts"]) expect(content.includes(text)).toBe(false);
    expect(file).toMatch(/(\.age|^SHA256SUMS)$/);
    expect(statSync(join(good, file)).mode & 0o777).toBe(0o600);
  }
  for (const folder of [good, join(good, "memories")]) {
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
  // The unencrypted copy of the database is removed.
  expect(readdirSync(dataDir).filter((name) => name.startsWith("backing-up"))).toEqual([]);
});

test("the owner of the identity restores it", async () => {
  const { folder, target } = backup.copy();
  await restore(folder, target, identity);
  await backup.expectRestored(target);
});

describe("nobody else can restore it:", () => {
  test("another identity, no identity and an empty identity file are refused with a one-line message", async () => {
    const { root, folder, target } = backup.copy();
    const other = join(root, "other.txt");
    const cases = [
      [`${stranger}\n`, "this identity does not match"],
      ["", "is not an identity file"],
      ["AGE-SECRET-KEY-1QQQ\n", "contains no age identity"],
      ["ssh-ed25519 AAAA\n", "is not an identity file"],
      [null, "give the identity file of age-keygen with --identity FILE"],
    ] as const;
    for (const [content, reason] of cases) {
      if (content !== null) writeFileSync(other, content);
      const flags = content === null ? [] : ["--identity", other];
      const outcome = await ctxd(["restore", folder, ...flags], { dataDir: target, env });
      expect(outcome.stdout).toBe("");
      expect(outcome.exitCode).not.toBe(0);
      expect(outcome.stderr).toMatch(/^ctxd: [^\n]+\n/);
      expect(outcome.stderr).toContain(reason);
      expectNothingIn(target);
    }
  });

  test("a wrong passphrase is refused, and the right one is accepted", async () => {
    const folder = join(place.path, "by-passphrase");
    const target = join(place.path, "by-passphrase-restored");
    const made = await ctxd(["backup", folder, "--encrypt"], {
      dataDir,
      env,
      input: `${PASSPHRASE}\n`,
    });
    expect(made).toMatchObject({ stdout: "", exitCode: 0 });
    expect(made.stderr).toContain(", encrypted.");
    const wrong = await ctxd(["restore", folder], {
      dataDir: target,
      env,
      input: "not this one\n",
    });
    expect(wrong).toMatchObject({ stdout: "", exitCode: 1 });
    expect(wrong.stderr).toMatch(/^ctxd: [^\n]+ the passphrase is wrong[^\n]*\n$/);
    expectNothingIn(target);
    const { screen, exitCode } = await ctxdInTerminal(
      ["restore", folder],
      [["Passphrase: ", `${PASSPHRASE}\r`]],
      { dataDir: target, env },
    );
    expect({ screen, exitCode }).toMatchObject({ exitCode: 0 });
    expect(screen).not.toContain(PASSPHRASE);
    await backup.expectRestored(target);
  });

  test("a short passphrase is refused", async () => {
    const folder = join(place.path, "short");
    const outcome = await ctxd(["backup", folder, "--encrypt"], { dataDir, env, input: "short\n" });
    expect(outcome.stderr).toBe("ctxd: A passphrase has at least 12 characters.\n");
    expect(existsSync(folder)).toBe(false);
  });
});
