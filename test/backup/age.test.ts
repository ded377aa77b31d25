import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createEncryptedBackup, env } from "../attack/support/encrypted-backup.ts";
import { ctxd } from "../support/command-line.ts";
import { listFiles } from "../support/files.ts";
import { restore } from "../support/live-data.ts";

const backup = await createEncryptedBackup();
const { dataDir, identityFile, recipient } = backup;
afterAll(() => backup[Symbol.dispose]());

const hasAge = Bun.which("age") !== null && Bun.which("age-keygen") !== null;
if (!hasAge) console.warn("skipped: the program age is not installed (apt-get install age)");
describe.skipIf(!hasAge)("the age program", () => {
  const run = (command: string[], input?: Uint8Array) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: input ?? "ignore" });
    expect({ command, exitCode, stderr: `${stderr}` }).toMatchObject({ exitCode: 0 });
    return stdout;
  };

  test("decrypts a backup, and ctxd restores the decrypted files", async () => {
    const { root, target } = backup.copy();
    const own = join(root, "own.txt");
    run(["age-keygen", "-o", own]);
    const [mine = ""] = /age1\w+/.exec(readFileSync(own, "utf8")) ?? [];
    const sealed = join(root, "sealed");
    // Either of the two recipients can decrypt it.
    const made = await ctxd(["backup", sealed, "--encrypt", recipient, "--encrypt", mine], {
      dataDir,
      env,
    });
    expect(made).toMatchObject({ exitCode: 0 });
    const [key, plain] = [join(root, "backup-key.txt"), join(root, "plain")];
    run(["age", "-d", "-i", own, "-o", key, join(sealed, "key.age")]);
    for (const file of await listFiles(sealed)) {
      if (!file.endsWith(".age") || file === "key.age") continue;
      const to = join(plain, file.slice(0, -4));
      mkdirSync(join(to, ".."), { recursive: true });
      run(["age", "-d", "-i", key, "-o", to, join(sealed, file)]);
    }
    await restore(plain, target);
    await backup.expectRestored(target);
  });

  test("encrypts the key of a backup to another recipient, who restores it with ctxd", async () => {
    const { root, folder, target } = backup.copy();
    const own = join(root, "own.txt");
    run(["age-keygen", "-o", own]);
    const [mine = ""] = /age1\w+/.exec(readFileSync(own, "utf8")) ?? [];
    const key = run(["age", "-d", "-i", identityFile, join(folder, "key.age")]);
    rmSync(join(folder, "key.age"));
    run(["age", "-e", "-r", mine, "-o", join(folder, "key.age")], key);
    const outcome = await ctxd(["restore", folder, "--identity", own], { dataDir: target, env });
    expect(outcome).toMatchObject({ stdout: "", exitCode: 0 });
    await backup.expectRestored(target);
  });
});
