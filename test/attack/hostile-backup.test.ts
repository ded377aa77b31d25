import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { MANIFEST_FILE, type Manifest } from "../../src/backup/manifest.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { ctxd } from "../support/command-line.ts";
import { backUp, copyBackup, folderOfTest, openData, restore } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";

let place: ReturnType<typeof folderOfTest>;
let good: string;
let manifest: Manifest;
beforeAll(async () => {
  place = folderOfTest();
  good = join(place.path, "good");
  const data = await openData(join(place.path, "data"));
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), [{ content: "one" }]);
  // Closing writes the base, so that the backup contains more than a log.
  await data.close();
  manifest = await backUp(join(place.path, "data"), good);
});
afterAll(() => place[Symbol.dispose]());

const folders = () => copyBackup(place, good);

const sha256 = (content: string | Uint8Array) =>
  new Bun.CryptoHasher("sha256").update(content).digest("hex");

/** Writes a manifest with the right checksum, as an attacker can. */
function writeManifest(folder: string, changes: Record<string, unknown>) {
  const { checksum: _, ...facts } = { ...manifest, ...changes };
  const checksum = sha256(JSON.stringify(facts));
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ ...facts, checksum }));
}

/** Updates the size and hash of the database in the manifest. */
function signDatabase(folder: string) {
  const content = readFileSync(join(folder, "ctxd.db"));
  const entry = { path: "ctxd.db", bytes: content.length, sha256: sha256(content) };
  const others = manifest.files.filter(({ path }) => path !== "ctxd.db");
  writeManifest(folder, { files: [entry, ...others] });
}

async function expectRefused(folder: string, dataDir: string, reason: string | RegExp) {
  expect(await outcomeOf(restore(folder, dataDir))).toThrow(reason);
  expect(existsSync(join(dataDir, "ctxd.db"))).toBe(false);
  expect(existsSync(join(dataDir, "restoring"))).toBe(false);
}

describe("a manifest can't lead out of the folder by", () => {
  test.each([
    "../outside",
    "memories/../../outside",
    "/etc/passwd",
    "memories//etc/passwd",
    "memories/./x",
    "memories\\..\\..\\outside",
    "memories/x\u0000y",
    "memories/x\ny",
    "memories/",
    "server.lock",
    "",
  ])("%j", async (path) => {
    const { root, folder, dataDir } = folders();
    writeFileSync(join(root, "outside"), "secret");
    const entry = { path, bytes: 6, sha256: sha256("secret") };
    writeManifest(folder, { files: [...manifest.files, entry] });
    await expectRefused(folder, dataDir, "is damaged");
    expect(readdirSync(root).sort()).toEqual(["backup", "outside"]);
  });
});

test("a link, a pipe, a folder or a device instead of a file is refused without waiting", async () => {
  const table = manifest.files.find(({ path }) => path.startsWith("memories/"))?.path ?? "ctxd.db";
  for (const name of ["ctxd.db", MANIFEST_FILE, table]) {
    for (const make of [
      (path: string) => symlinkSync("/etc/passwd", path),
      (path: string) => symlinkSync("/dev/zero", path),
      (path: string) => void Bun.spawnSync(["mkfifo", path]),
      (path: string) => void mkdirSync(path),
    ]) {
      const { folder, dataDir } = folders();
      rmSync(join(folder, name));
      make(join(folder, name));
      await expectRefused(folder, dataDir, /link|regular file|folder/);
    }
  }
});

test("a linked folder does not expose files of the user who restores", async () => {
  const { root, folder, dataDir } = folders();
  const elsewhere = join(root, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "secret"), "secret");
  mkdirSync(join(folder, "memories"), { recursive: true });
  symlinkSync(elsewhere, join(folder, "memories", "x.lance"));
  const entry = { path: "memories/x.lance/secret", bytes: 6, sha256: sha256("secret") };
  writeManifest(folder, { files: [...manifest.files, entry] });
  await expectRefused(folder, dataDir, "leads out of the backup");
});

test.each([
  [
    "a size beyond all numbers",
    { files: [{ path: "ctxd.db", bytes: 1e300, sha256: "0".repeat(64) }] },
  ],
  ["a negative size", { files: [{ path: "ctxd.db", bytes: -1, sha256: "0".repeat(64) }] }],
  ["a size that is none", { files: [{ path: "ctxd.db", bytes: 0.5, sha256: "0".repeat(64) }] }],
  ["more accounts than numbers", { accounts: 1e300 }],
  ["a negative format", { format: -1 }],
  ["a moment that is none", { created_at: "\u001b[2J" }],
  ["a version of a megabyte", { ctxd: "x".repeat(1 << 20) }],
  ["the same file twice", { files: [] }],
])("a manifest with %s is refused", async (name, changes) => {
  const { folder, dataDir } = folders();
  const twice = { files: [...manifest.files, ...manifest.files] };
  writeManifest(folder, name.startsWith("the same") ? twice : changes);
  await expectRefused(folder, dataDir, "is damaged");
});

test("a manifest larger than memory is not read", async () => {
  const { folder, dataDir } = folders();
  truncateSync(join(folder, MANIFEST_FILE), 20 * 2 ** 30);
  await expectRefused(folder, dataDir, "is too large");
});

test("control characters in a version do not reach the terminal", async () => {
  const { root, folder } = folders();
  writeManifest(folder, { format: 99, ctxd: "\u001b[2J\u001b]0;owned\u0007" });
  const { stderr, exitCode } = await ctxd(["restore", folder], { dataDir: join(root, "data") });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^ctxd: \P{Cc}+ newer ctxd \P{Cc}+\n$/u);
});

describe("a manipulated database is refused:", () => {
  const change = (statements: string) => (path: string) => {
    const sqlite = new Database(path);
    sqlite.run(statements);
    sqlite.close();
  };
  test.each<[string, (path: string) => void]>([
    [
      "one that opens a session with each account",
      change(`CREATE TRIGGER back_door AFTER UPDATE ON accounts BEGIN
        INSERT INTO sessions VALUES ('00', NEW.id, 0, 9e15, '', NULL); END`),
    ],
    [
      "one whose own trigger does something else",
      change(`DROP TRIGGER sessions_end_with_password;
        CREATE TRIGGER sessions_end_with_password AFTER UPDATE OF password_hash ON accounts BEGIN
        SELECT 1; END`),
    ],
    ["one with a view", change("CREATE VIEW mine AS SELECT * FROM accounts")],
    [
      "one that leads to another folder by an account",
      change(`INSERT INTO accounts (id, email, role, created_at)
        VALUES ('../../other/memories/acc_1', 'x@example.com', 'member', 0)`),
    ],
    [
      "one that leads there by a table",
      change("UPDATE checkpoints SET account_id = '../../other/memories/acc_1'"),
    ],
    [
      "one that leads there by a base",
      change("UPDATE checkpoints SET base = '../../other/memories/acc_1'"),
    ],
    [
      "one that leads there by a head",
      change("INSERT INTO heads (name, seq) VALUES ('../../other/memories/acc_1', 1)"),
    ],
    [
      "one that has a removed account elsewhere",
      change("INSERT INTO removed_accounts VALUES ('../../other')"),
    ],
    [
      "one whose checkpoint lists files elsewhere",
      change(
        `INSERT OR REPLACE INTO checkpoints VALUES ('acc_1', 1, '["../../../etc/passwd"]', 'acc_1', 0)`,
      ),
    ],
    [
      "one whose list of files is none",
      change(`INSERT OR REPLACE INTO checkpoints VALUES ('acc_1', 1, '{', 'acc_1', 0)`),
    ],
    ["one of another schema than it says", change("PRAGMA user_version = 1")],
    ["one that is no database", (path) => writeFileSync(path, "x".repeat(10_000))],
    ["one without tables", (path) => writeFileSync(path, "")],
  ])("%s", async (_, attack) => {
    const { folder, dataDir } = folders();
    attack(join(folder, "ctxd.db"));
    signDatabase(folder);
    await expectRefused(folder, dataDir, "is not a database of ctxd");
  });
});

test("files of another backup are refused", async () => {
  const { root, folder, dataDir } = folders();
  await using data = await openData(join(root, "other-data"));
  await data.accounts.add({ email: "other@example.com", password: null });
  await backUp(join(root, "other-data"), join(root, "other"));
  renameSync(join(root, "other", "ctxd.db"), join(folder, "ctxd.db"));
  await expectRefused(folder, dataDir, `differs from ${MANIFEST_FILE}`);
});
