import { afterAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Encrypter } from "age-encryption";
import { MANIFEST_FILE } from "../../src/backup/manifest.ts";
import { ctxd } from "../support/command-line.ts";
import { listFiles } from "../support/files.ts";
import { backUp, restore } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";
import { createEncryptedBackup, env, expectNothingIn } from "./support/encrypted-backup.ts";

const backup = await createEncryptedBackup();
const { place, dataDir, backup: good, identity, identityFile, recipient } = backup;
afterAll(() => backup[Symbol.dispose]());

describe("an attacker who can write to the backup, and knows its recipient, is noticed when he", () => {
  /** The key, the manifest, the database and some files of a table. */
  const someOfEach = async () => {
    const files = (await listFiles(good)).filter((name) => name.endsWith(".age")).sort();
    const ofTable = files.filter((name) => name.startsWith("memories"));
    expect(ofTable.length).toBeGreaterThan(1);
    return [...files.filter((name) => !name.startsWith("memories")), ...ofTable.slice(-2)];
  };

  const flip = (path: string) => {
    const content = readFileSync(path);
    const middle = content.length - 20;
    content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
    writeFileSync(path, content);
  };

  test.each<[string, (path: string) => void]>([
    ["changes a bit of", flip],
    ["truncates", (path) => truncateSync(path, statSync(path).size - 70)],
    ["empties", (path) => truncateSync(path, 0)],
    ["appends to", (path) => appendFileSync(path, "x")],
    ["removes", (path) => rmSync(path)],
  ])("%s any file", async (_, change) => {
    for (const file of await someOfEach()) {
      const { folder, target } = backup.copy();
      change(join(folder, file));
      expect(await outcomeOf(restore(folder, target, identity))).toThrow();
      expectNothingIn(target);
    }
  });

  test("swaps two files", async () => {
    const { folder, target } = backup.copy();
    const [one = "", other = ""] = (await someOfEach()).slice(-2).map((name) => join(folder, name));
    renameSync(one, `${one}.x`);
    renameSync(other, one);
    renameSync(`${one}.x`, other);
    expect(await outcomeOf(restore(folder, target, identity))).toThrow("differs from backup.json");
    expectNothingIn(target);
  });

  test("replaces files by those of another backup of the same server", async () => {
    const other = join(place.path, "another");
    await backUp(dataDir, other, { recipients: [recipient] });
    for (const name of ["ctxd.db.age", "backup.json.age", "key.age"]) {
      const { folder, target } = backup.copy();
      copyFileSync(join(other, name), join(folder, name));
      expect(await outcomeOf(restore(folder, target, identity))).toThrow(
        /damaged or belongs to another backup/,
      );
      expectNothingIn(target);
    }
  });

  test("replaces files by files that he has encrypted himself", async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    for (const name of ["ctxd.db.age", "backup.json.age", "key.age"]) {
      const { folder, target } = backup.copy();
      writeFileSync(join(folder, name), await encrypter.encrypt("mine"));
      expect(await outcomeOf(restore(folder, target, identity))).toThrow();
      expectNothingIn(target);
    }
  });

  test("adds an unencrypted backup, or replaces the encrypted one by it", async () => {
    const { root, folder, target } = backup.copy();
    const plain = join(root, "plain");
    await backUp(dataDir, plain);
    copyFileSync(join(plain, MANIFEST_FILE), join(folder, MANIFEST_FILE));
    expect(await outcomeOf(restore(folder, target, identity))).toThrow("does not belong there");
    const instead = await ctxd(["restore", plain, "--identity", identityFile], {
      dataDir: target,
      env,
    });
    expect(instead.stderr).toContain("is not encrypted");
    expect(instead.exitCode).toBe(1);
    expectNothingIn(target);
  });
});
