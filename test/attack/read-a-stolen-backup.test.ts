import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { removeAbandonedCopies } from "../../src/backup/copy-state.ts";
import { MANIFEST } from "../../src/backup/manifest.ts";
import { scheduleBackups } from "../../src/backup/schedule.ts";
import { checkBackups } from "../../src/doctor/backups.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createLog } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { testClock } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { listFiles } from "../support/files.ts";
import {
  backUp,
  copyBackup,
  folderOfTest,
  HASTY,
  openData,
  restore,
} from "../support/live-data.ts";
import { serving } from "../support/server-process.ts";

const SECRET = "The safe opens with 8-31-7.";
const EMAIL = "hidden@example.com";
const PASSPHRASE = "violet anchor marble";
const env = { CTXD_CACHE_DIR: testCacheDir };

const place = folderOfTest();
const dataDir = join(place.path, "data");
const good = join(place.path, "good");
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const stranger = await generateX25519Identity();
const identityFile = join(place.path, "key.txt");
let accountId: string;

beforeAll(async () => {
  writeFileSync(identityFile, `# created: today\n# public key: ${recipient}\n${identity}\n`);
  const data = await openData(dataDir);
  ({ id: accountId } = await data.accounts.add({ email: EMAIL, password: null }));
  for (let count = 0; count < 20; count++) {
    await data.memories.create(wholeAccount(accountId), [{ content: `${SECRET} ${count}` }]);
  }
  // Then there is a base, not only a log.
  await data.close();
  await backUp(dataDir, good, { recipients: [recipient] });
});
afterAll(() => place[Symbol.dispose]());

function folders() {
  const { dataDir: target, ...copy } = copyBackup(place, good);
  return { ...copy, target };
}

async function expectAllThere(target: string) {
  await using data = await openData(target);
  const { memories } = await data.memories.list(wholeAccount(accountId), {
    filter: {},
    limit: 100,
  });
  expect(memories).toHaveLength(20);
  expect(memories.every(({ content }) => content.startsWith(SECRET))).toBe(true);
}

/** Nothing was restored, and nothing that was decrypted has stayed. */
function expectNothing(target: string) {
  const left = existsSync(target) ? readdirSync(target) : [];
  expect(left.filter((name) => name !== "server.lock")).toEqual([]);
}

test("who finds an encrypted backup reads no memory and no address in it", async () => {
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
  // The copy of the database that was encrypted is gone.
  expect(readdirSync(dataDir).filter((name) => name.startsWith("backing-up"))).toEqual([]);
});

test("its owner restores it", async () => {
  const { folder, target } = folders();
  await restore(folder, target, identity);
  await expectAllThere(target);
});

describe("nobody else opens it:", () => {
  test("another identity, none, or an empty file of identities is refused in one line", async () => {
    const { root, folder, target } = folders();
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
      expectNothing(target);
    }
  });

  test("a wrong passphrase is refused, the right one is not", async () => {
    const folder = join(place.path, "by-passphrase");
    const target = join(place.path, "by-passphrase-restored");
    const made = await ctxd(["backup", folder, "--encrypt"], {
      ...{ dataDir, env },
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
    expectNothing(target);
    const { screen, exitCode } = await ctxdInTerminal(
      ["restore", folder],
      [["Passphrase: ", `${PASSPHRASE}\r`]],
      { dataDir: target, env },
    );
    expect({ screen, exitCode }).toMatchObject({ exitCode: 0 });
    expect(screen).not.toContain(PASSPHRASE);
    await expectAllThere(target);
  }, 60_000);

  test("a short passphrase protects nothing and is refused", async () => {
    const folder = join(place.path, "short");
    const outcome = await ctxd(["backup", folder, "--encrypt"], { dataDir, env, input: "short\n" });
    expect(outcome.stderr).toBe("ctxd: A passphrase has at least 12 characters.\n");
    expect(existsSync(folder)).toBe(false);
  });
});

describe("who can write to it, and knows to whom it is encrypted, is noticed when he", () => {
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
    ["changes a bit", flip],
    ["cuts", (path) => truncateSync(path, statSync(path).size - 70)],
    ["empties", (path) => truncateSync(path, 0)],
    ["lengthens", (path) => appendFileSync(path, "x")],
    ["removes", (path) => rmSync(path)],
  ])("%s any of its files", async (_, change) => {
    for (const file of await someOfEach()) {
      const { folder, target } = folders();
      change(join(folder, file));
      await expect(restore(folder, target, identity)).rejects.toThrow();
      expectNothing(target);
    }
  });

  test("swaps two of its files", async () => {
    const { folder, target } = folders();
    const [one = "", other = ""] = (await someOfEach()).slice(-2).map((name) => join(folder, name));
    renameSync(one, `${one}.x`);
    renameSync(other, one);
    renameSync(`${one}.x`, other);
    await expect(restore(folder, target, identity)).rejects.toThrow("differs from backup.json");
    expectNothing(target);
  });

  test("puts in files of another backup of the same server", async () => {
    const other = join(place.path, "another");
    await backUp(dataDir, other, { recipients: [recipient] });
    for (const name of ["ctxd.db.age", "backup.json.age", "key.age"]) {
      const { folder, target } = folders();
      copyFileSync(join(other, name), join(folder, name));
      await expect(restore(folder, target, identity)).rejects.toThrow(
        /damaged or belongs to another backup/,
      );
      expectNothing(target);
    }
  });

  test("puts in files that he has encrypted himself", async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    for (const name of ["ctxd.db.age", "backup.json.age", "key.age"]) {
      const { folder, target } = folders();
      writeFileSync(join(folder, name), await encrypter.encrypt("mine"));
      await expect(restore(folder, target, identity)).rejects.toThrow();
      expectNothing(target);
    }
  });

  test("adds a backup that is not encrypted, or puts one in its place", async () => {
    const { root, folder, target } = folders();
    const plain = join(root, "plain");
    await backUp(dataDir, plain);
    copyFileSync(join(plain, MANIFEST), join(folder, MANIFEST));
    await expect(restore(folder, target, identity)).rejects.toThrow("does not belong there");
    const instead = await ctxd(["restore", plain, "--identity", identityFile], {
      ...{ dataDir: target, env },
    });
    expect(instead.stderr).toContain("is not encrypted");
    expect(instead.exitCode).toBe(1);
    expectNothing(target);
  });
});

describe("backups on a schedule, without the identity at hand,", () => {
  const clock = testClock();
  const lines: string[] = [];
  const series = join(place.path, "series");
  const settings = { folder: series, every: 3_600_000, keep: 1 };
  const scheduled = (spoil: (folder: string) => void = () => {}) =>
    scheduleBackups({
      ...{ settings, clock, metrics: createMetrics(), origin: async () => null },
      log: createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line)),
      create: async (folder) => {
        const manifest = await backUp(dataDir, folder, { recipients: [recipient] });
        spoil(folder);
        return manifest;
      },
    });

  test("are checked before an old one goes", async () => {
    await scheduled().check();
    const [first = ""] = readdirSync(series);
    for (const name of ["ctxd.db.age", "key.age", "backup.json.age", "SHA256SUMS"]) {
      clock.advance(7_200_000);
      await scheduled((folder) => truncateSync(join(folder, name), 100)).check();
      expect(readdirSync(series)).toEqual([first]);
      expect(lines.at(-1)).toMatch(
        /backup_failed cause=".*(differs from SHA256SUMS|SHA256SUMS is damaged)/,
      );
    }
    expect(await checkBackups(settings, clock())).toMatchObject({ state: "problem" });
    clock.advance(7_200_000);
    await scheduled().check();
    const [second = ""] = readdirSync(series);
    expect(second > first).toBe(true);
    expect(await checkBackups(settings, clock())).toMatchObject({ state: "ok" });
    const target = join(place.path, "from-series");
    await restore(join(series, second), target, identity);
    await expectAllThere(target);
  });

  test("that a crash has cut off are none, and go", async () => {
    const cutOff = join(series, "ctxd-2020-01-01T00-00-00Z");
    mkdirSync(cutOff);
    writeFileSync(join(cutOff, "ctxd.db.age"), "half");
    clock.advance(7_200_000);
    await scheduled().check();
    expect(existsSync(cutOff)).toBe(false);
  });
});

test("a server with CTXD_BACKUP_RECIPIENT writes encrypted backups alone", async () => {
  const served = join(place.path, "served");
  const series = join(place.path, "served-backups");
  cpSync(dataDir, served, { recursive: true });
  const settings = { CTXD_BACKUP_DIR: series, CTXD_BACKUP_RECIPIENT: `${recipient}, ${recipient}` };
  {
    await using server = await serving(served, settings);
    // SHA256SUMS is there sooner, but a stop before the backup is read again removes the backup.
    while (!/ backup_(made|failed) /.test(server.errors())) await Bun.sleep(50);
    expect(server.errors()).not.toContain("backup_failed");
  }
  const [name = ""] = readdirSync(series);
  const files = await listFiles(join(series, name));
  expect(files.filter((file) => !/(\.age|^SHA256SUMS)$/.test(file))).toEqual([]);
  const target = join(place.path, "served-restored");
  const flags = ["--identity", identityFile];
  expect(
    await ctxd(["restore", join(series, name), ...flags], { dataDir: target, env }),
  ).toMatchObject({ stdout: "", exitCode: 0 });
  await expectAllThere(target);
}, 60_000);

test("a setting that is no recipient stops the start, and a secret in it is not repeated", async () => {
  for (const value of [stranger, `age1${"q".repeat(58)}`, "ssh-ed25519 AAAA"]) {
    const outcome = await ctxd(["serve", "--port", "0"], {
      dataDir: join(place.path, "unused"),
      env: { ...env, CTXD_BACKUP_RECIPIENT: value },
    });
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.stderr).toMatch(/recipient/);
    expect(outcome.stderr).not.toContain(value);
  }
});

test("a copy of the database that a crash has left unencrypted goes with the next backup", async () => {
  const left = join(dataDir, "backing-up", "999999999-x.db");
  mkdirSync(join(dataDir, "backing-up"), { recursive: true });
  writeFileSync(left, SECRET);
  const folder = join(place.path, crypto.randomUUID());
  await backUp(dataDir, folder, { recipients: [recipient] });
  expect(existsSync(left)).toBe(false);
});

test("a start in a container removes what the crashed server with the same number has left", async () => {
  const own = join(dataDir, "backing-up", `${process.pid}-x.db`);
  const other = join(dataDir, "backing-up", `${process.ppid}-x.db`);
  mkdirSync(join(dataDir, "backing-up"), { recursive: true });
  for (const path of [own, other]) writeFileSync(path, SECRET);
  await removeAbandonedCopies(dataDir);
  expect(existsSync(own)).toBe(true);
  await removeAbandonedCopies(dataDir, true);
  expect(existsSync(own)).toBe(false);
  // Of a command that still runs.
  expect(existsSync(other)).toBe(true);
  rmSync(other);
});

test("encrypted backups made while memories are written and purged can be restored", async () => {
  const live = join(place.path, "live");
  await using data = await openData(live, HASTY);
  const { id } = await data.accounts.add({ email: "x@example.com", password: null });
  let isOver = false;
  const kept = new Set<string>();
  const load = (async () => {
    for (let count = 0; !isOver; count++) {
      const [made] = await data.memories.create(wholeAccount(id), [{ content: `note ${count}` }]);
      if (made && count % 3 === 0) await data.memories.remove(wholeAccount(id), made.id);
      else if (made) kept.add(made.id);
    }
  })();
  try {
    for (let round = 0; round < 3; round++) {
      for (const goal = kept.size + 30; kept.size < goal; ) await Bun.sleep(10);
      const atLeast = [...kept];
      const folder = join(place.path, `live-${round}`);
      const target = join(place.path, `live-restored-${round}`);
      await backUp(live, folder, { recipients: [recipient] });
      await restore(folder, target, identity);
      await using restored = await openData(target);
      for (const memory of atLeast) {
        expect(await restored.memories.get(wholeAccount(id), memory)).toMatchObject({ id: memory });
      }
    }
  } finally {
    isOver = true;
    await load;
  }
}, 60_000);

const hasAge = Bun.which("age") !== null && Bun.which("age-keygen") !== null;
if (!hasAge) console.warn("skipped: the program age is not installed (apt-get install age)");
describe.skipIf(!hasAge)("the program age", () => {
  const run = (command: string[], input?: Uint8Array) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: input ?? "ignore" });
    expect({ command, exitCode, stderr: `${stderr}` }).toMatchObject({ exitCode: 0 });
    return stdout;
  };

  test("decrypts a backup of ctxd to one that ctxd restores", async () => {
    const { root, target } = folders();
    const own = join(root, "own.txt");
    run(["age-keygen", "-o", own]);
    const [mine = ""] = /age1\w+/.exec(readFileSync(own, "utf8")) ?? [];
    const sealed = join(root, "sealed");
    // Two recipients: either of them opens it.
    const made = await ctxd(["backup", sealed, "--encrypt", recipient, "--encrypt", mine], {
      ...{ dataDir, env },
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
    await expectAllThere(target);
  });

  test("encrypts the key of a backup anew for somebody else, who restores it with ctxd", async () => {
    const { root, folder, target } = folders();
    const own = join(root, "own.txt");
    run(["age-keygen", "-o", own]);
    const [mine = ""] = /age1\w+/.exec(readFileSync(own, "utf8")) ?? [];
    const key = run(["age", "-d", "-i", identityFile, join(folder, "key.age")]);
    rmSync(join(folder, "key.age"));
    run(["age", "-e", "-r", mine, "-o", join(folder, "key.age")], key);
    const outcome = await ctxd(["restore", folder, "--identity", own], { dataDir: target, env });
    expect(outcome).toMatchObject({ stdout: "", exitCode: 0 });
    await expectAllThere(target);
  });
});
